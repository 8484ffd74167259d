#include "host/target/input_feed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace clew {
namespace {

bool is_null_device(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

Result<FileDescriptor> open_null_device() {
  FileDescriptor fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::unexpected(system_error("read", "/dev/null", errno));
  return fd;
}

// The program gets it as its standard input: a file that was opened so that it does not block.
Result<FileDescriptor> open_stored(const std::filesystem::path& path) {
  CLEW_TRY(auto file, open_regular(path, Whose::kOwn));
  fcntl(file.fd.get(), F_SETFL, 0);
  return std::move(file.fd);
}

}  // namespace

Result<InputFeed> InputFeed::from_here(const Draft* draft) {
  struct stat status{};
  if (fstat(STDIN_FILENO, &status) != 0 || is_null_device(status)) return empty();
  FileDescriptor source(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!S_ISREG(status.st_mode)) return piped(std::move(source), draft);
  if (draft != nullptr && static_cast<std::uint64_t>(status.st_size) < kMaxRecordedInput)
    return copied(std::move(source), *draft);
  InputFeed feed;
  feed.kind_ = StdinKind::kFile;
  feed.child_end_ = std::move(source);
  if (draft != nullptr)
    feed.notes_.emplace_back("standard input has 256 MiB or more and is not in the recording");
  return feed;
}

Result<InputFeed> InputFeed::from_file(FileDescriptor source, const Draft* draft) {
  if (draft != nullptr) return copied(std::move(source), *draft);
  InputFeed feed;
  feed.child_end_ = std::move(source);
  return feed;
}

Result<InputFeed> InputFeed::empty() {
  CLEW_TRY(auto null, open_null_device());
  InputFeed feed;
  feed.child_end_ = std::move(null);
  return feed;
}

Result<InputFeed> InputFeed::from_recording(const Recording& recording) {
  const Meta& meta = recording.meta;
  if (meta.stdin_kind == StdinKind::kFile && !meta.stdin_data)
    return fail(ErrorCode::kBadInput, "the recording does not contain the program's standard input",
                "inputs of 256 MiB or more are not recorded; record it with a smaller one");
  const bool stored = meta.stdin_data.has_value() && meta.stdin_kind != StdinKind::kNone;
  CLEW_TRY(auto source, stored ? open_stored(recording.stdin_file()) : open_null_device());
  if (meta.stdin_kind == StdinKind::kStream) return piped(std::move(source), nullptr);
  InputFeed feed;
  feed.kind_ = meta.stdin_kind;
  feed.child_end_ = std::move(source);
  return feed;
}

Result<InputFeed> InputFeed::piped(FileDescriptor source, const Draft* draft) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::kSystem, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  InputFeed feed;
  feed.kind_ = StdinKind::kStream;
  feed.child_end_ = FileDescriptor(ends[0]);
  feed.to_ = FileDescriptor(ends[1]);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  feed.source_ = std::move(source);
  feed.draft_ = draft;
  return feed;
}

// The program reads the copy, so that what it saw is what is recorded, whatever happens to the
// file.
Result<InputFeed> InputFeed::copied(FileDescriptor source, const Draft& draft) {
  CLEW_TRY(auto store, draft.open_stdin());
  std::array<std::uint8_t, 65536> buffer;
  for (;;) {
    const ssize_t size = read(source.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      return fail(ErrorCode::kSystem,
                  fmt::format("cannot read standard input: {}", std::strerror(errno)));
    if (size == 0) break;
    const std::span piece(buffer.data(), static_cast<std::size_t>(size));
    CLEW_CHECK_OK(store.append(piece));
  }
  CLEW_TRY(auto copy, open_stored(draft.path() / "stdin"));
  InputFeed feed;
  feed.kind_ = StdinKind::kFile;
  feed.child_end_ = std::move(copy);
  feed.store_ = std::move(store);
  return feed;
}

int InputFeed::readable() const { return pending_.empty() && to_.valid() ? source_.get() : -1; }

int InputFeed::writable() const { return pending_.empty() ? -1 : to_.get(); }

void InputFeed::end_source() {
  source_ = FileDescriptor();
  to_ = FileDescriptor();
}

void InputFeed::on_readable() {
  std::array<std::uint8_t, 65536> buffer;
  const ssize_t size = read(source_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) return end_source();
  const std::span piece(buffer.data(), static_cast<std::size_t>(size));
  pending_.assign(piece.begin(), piece.end());
  if (draft_ == nullptr || problem_) return;
  if (!store_) {
    auto opened = draft_->open_stdin();
    if (!opened) {
      problem_ = opened.error();
      return;
    }
    store_ = std::move(*opened);
  }
  if (auto kept = store_->append(piece); !kept) problem_ = kept.error();
}

void InputFeed::on_writable() {
  const ssize_t size = write(to_.get(), pending_.data(), pending_.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size < 0) {  // the program has closed its standard input
    pending_.clear();
    return end_source();
  }
  pending_.erase(pending_.begin(), pending_.begin() + size);
}

Result<std::optional<Captured>> InputFeed::finish() {
  if (problem_) return std::unexpected(*problem_);
  if (!store_) return std::nullopt;
  CLEW_TRY(auto captured, store_->finish());
  return captured;
}

}  // namespace clew
