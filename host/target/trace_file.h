// The file in which traces continue that do not fit into the control memory (clew_abi/trace.h). It
// has no name, and is gone with this process.
#ifndef CLEW_HOST_TARGET_TRACE_FILE_H_
#define CLEW_HOST_TARGET_TRACE_FILE_H_

#include <cstdint>

#include "host/recording/file.h"
#include "host/trace/trace_decoder.h"

namespace clew {

class TraceFile {
 public:
  // Makes the file, or empties it. Gives its descriptor; -1: there cannot be one.
  [[nodiscard]] int begin();

  // Hands what stands at `offset` to the decoder. False: it is not there, or more than there may
  // be.
  [[nodiscard]] bool read(std::uint64_t offset, std::uint64_t size, TraceDecoder& decoder) const;

 private:
  FileDescriptor fd_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_TRACE_FILE_H_
