// The program's standard input: where it comes from, and keeping a copy of it.
#ifndef CLEW_HOST_TARGET_INPUT_FEED_H_
#define CLEW_HOST_TARGET_INPUT_FEED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/recording/recording.h"

namespace clew {

// A larger input file is read in place and not recorded.
inline constexpr std::uint64_t kMaxRecordedInput = std::uint64_t{256} << 20;

class InputFeed {
 public:
  // clew's own standard input, recorded in `draft` (null: not recorded).
  [[nodiscard]] static Result<InputFeed> from_here(const Draft* draft);
  // A file that is read from its current position; null: the input is empty and not recorded.
  [[nodiscard]] static Result<InputFeed> from_file(FileDescriptor source, const Draft* draft);
  [[nodiscard]] static Result<InputFeed> empty();
  // The input of a recording.
  [[nodiscard]] static Result<InputFeed> from_recording(const Recording& recording);

  StdinKind kind() const { return kind_; }
  int child_end() const { return child_end_.get(); }
  // REQUIRES: the child has been started. A file stays open for the watchdog; a pipe must not.
  void close_child_end() { child_end_ = FileDescriptor(); }

  // What to poll for; -1: nothing.
  int readable() const;
  int writable() const;
  // True while the program could be waiting for someone to type.
  bool is_open() const { return to_.valid(); }

  void on_readable();
  void on_writable();

  // What was stored, if anything. Fails if it could not be stored.
  [[nodiscard]] Result<std::optional<Captured>> finish();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  InputFeed() = default;
  [[nodiscard]] static Result<InputFeed> piped(FileDescriptor source, const Draft* draft);
  [[nodiscard]] static Result<InputFeed> copied(FileDescriptor source, const Draft& draft);
  void end_source();

  StdinKind kind_ = StdinKind::kNone;
  FileDescriptor child_end_;
  FileDescriptor source_;
  FileDescriptor to_;
  const Draft* draft_ = nullptr;
  std::optional<CaptureWriter> store_;  // created with the first byte
  std::optional<Error> problem_;
  std::vector<std::uint8_t> pending_;
  std::vector<std::string> notes_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_INPUT_FEED_H_
