// Recordings that nobody is to see: in a temporary folder that goes with this. What a process that was killed
// has left goes when another one makes such a folder: as long as it is in use it is locked.
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
  int lock_ = -1;  // -1: there is none, or locks do not work there
  std::optional<RecordingStore> store_;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_SCRATCH_STORE_H_
