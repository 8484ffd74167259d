#include "host/target/output_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clew {
namespace {
constexpr std::size_t kMostPending = std::size_t{1} << 20;
}

Result<OutputSink> OutputSink::create(int pass_to, std::optional<CaptureWriter> store) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::kSystem, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  OutputSink sink;
  sink.pipe_ = FileDescriptor(ends[0]);
  sink.child_end_ = FileDescriptor(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);  // this end only: the program's end stays as it expects
  struct stat status{};
  if (pass_to >= 0 && fstat(pass_to, &status) == 0) {
    sink.pass_to_ = pass_to;
    sink.pass_is_file_ = S_ISREG(status.st_mode);
  }
  sink.store_ = std::move(store);
  return sink;
}

bool OutputSink::congested() const { return pending_.size() >= kMostPending; }

Result<void> OutputSink::pump() {
  std::array<std::uint8_t, 65536> buffer;
  while (!congested() && pipe_.valid()) {
    const ssize_t size = read(pipe_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return {};  // nothing there at the moment
    if (size == 0) {
      pipe_ = FileDescriptor();
      return {};
    }
    if (auto taken = take(std::span(buffer.data(), static_cast<std::size_t>(size))); !taken)
      return taken;
  }
  return {};
}

Result<void> OutputSink::take(std::span<const std::uint8_t> bytes) {
  const std::size_t skipped = std::min<std::uint64_t>(skip_, bytes.size());
  skip_ -= skipped;
  if (pass_to_ >= 0) pending_.insert(pending_.end(), bytes.begin() + skipped, bytes.end());
  if (store_) return store_->append(bytes);
  hash_.update(bytes);
  size_ += bytes.size();
  return {};
}

void OutputSink::pass() {
  if (pending_.empty() || pass_to_ < 0) return;
  // A pipe that polls writable takes PIPE_BUF bytes without blocking.
  const std::size_t most = pass_is_file_ ? pending_.size() : PIPE_BUF;
  const ssize_t size = write(pass_to_, pending_.data(), std::min(pending_.size(), most));
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size < 0) {
    if (errno != EPIPE) pass_error_ = errno;
    pass_to_ = -1;
    pending_.clear();
    return;
  }
  pending_.erase(pending_.begin(), pending_.begin() + size);
}

void OutputSink::pass_all() {
  while (!pending_.empty() && pass_to_ >= 0) {
    pollfd ready{pass_to_, POLLOUT, 0};
    poll(&ready, 1, 1000);
    if (ready.revents != 0) pass();
  }
}

Result<Captured> OutputSink::finish() {
  if (store_) return store_->finish();
  return Captured{size_, hash_.digest(), 0, kEmptyContentHash};
}

}  // namespace clew
