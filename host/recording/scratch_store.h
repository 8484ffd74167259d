// Recordings that nobody is to see: in a temporary folder that goes with this.
#ifndef CLEW_HOST_RECORDING_SCRATCH_STORE_H_
#define CLEW_HOST_RECORDING_SCRATCH_STORE_H_

#include <optional>
#include <string>

#include "host/error.h"
#include "host/recording/recording.h"

namespace clew {

class ScratchStore {
 public:
  ScratchStore() = default;
  ~ScratchStore();
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  // The folder is made when it is first asked for.
  [[nodiscard]] Result<RecordingStore*> get();

 private:
  std::string path_;
  std::optional<RecordingStore> store_;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_SCRATCH_STORE_H_
