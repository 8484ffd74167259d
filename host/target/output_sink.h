// One of the program's output streams: read from its pipe, hashed, stored, passed on.
#ifndef CLEW_HOST_TARGET_OUTPUT_SINK_H_
#define CLEW_HOST_TARGET_OUTPUT_SINK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/recording/capture.h"
#include "host/recording/content_hash.h"
#include "host/recording/file.h"

namespace clew {

class OutputSink {
 public:
  // `pass_to`: one of clew's own descriptors, -1 for none. It is never made non-blocking (others
  // share it), so bytes wait here until it accepts them.
  [[nodiscard]] static Result<OutputSink> create(int pass_to, std::optional<CaptureWriter> store);

  // The first `bytes` are not passed on.
  void skip(std::uint64_t bytes) { skip_ = bytes; }

  int child_end() const { return child_end_.get(); }
  void close_child_end() { child_end_ = FileDescriptor(); }

  // What to poll for; -1: nothing.
  int readable() const { return congested() ? -1 : pipe_.get(); }
  int writable() const { return pending_.empty() ? -1 : pass_to_; }
  bool has_pending() const { return !pending_.empty(); }
  // True while the reader of clew's output is slower than the program.
  bool congested() const;

  // Reads what is available. Fails if it cannot be stored.
  [[nodiscard]] Result<void> pump();
  // Passes on a piece that `pass_to` accepts without blocking. After an error the rest is only
  // stored.
  void pass();
  // Passes on everything that is still pending, however long the reader takes.
  void pass_all();

  // Why the rest was not passed on, as errno; 0: it was, or its reader is gone, which is not an
  // error.
  int pass_error() const { return pass_error_; }

  [[nodiscard]] Result<Captured> finish();

 private:
  OutputSink() = default;
  [[nodiscard]] Result<void> take(std::span<const std::uint8_t> bytes);

  FileDescriptor pipe_;
  FileDescriptor child_end_;
  int pass_to_ = -1;
  int pass_error_ = 0;
  bool pass_is_file_ = false;  // never blocks
  std::optional<CaptureWriter> store_;
  ContentHasher hash_;  // used if nothing is stored
  std::uint64_t size_ = 0;
  std::uint64_t skip_ = 0;
  std::vector<std::uint8_t> pending_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_OUTPUT_SINK_H_
