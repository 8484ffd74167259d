#include "host/search/standard_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "host/recording/file.h"
#include "host/seconds.h"
#include "host/target/input_feed.h"
#include "host/target/interrupts.h"

namespace clew {
namespace {

// Chosen, not measured: by then a person wonders what clew waits for.
constexpr double kSlowSeconds = 1;

std::unexpected<Error> cannot(const char* verb, int error) {
  return fail(ErrorCode::kSystem,
              fmt::format("cannot {} standard input: {}", verb, std::strerror(error)));
}

Result<void> keep(int copy, std::span<const char> piece) {
  while (!piece.empty()) {
    const ssize_t size = write(copy, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot("keep", errno);
    piece = piece.subspan(static_cast<std::size_t>(size));
  }
  return {};
}

Result<int> read_to_end(int copy, const std::function<void()>& slow) {
  const Interrupts interrupts;
  const double started = seconds_now();
  bool told = false;
  std::uint64_t total = 0;
  std::array<char, 65536> buffer;
  for (;;) {
    if (!told && seconds_now() - started >= kSlowSeconds) {
      told = true;
      slow();
    }
    std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {interrupts.descriptor(), POLLIN, 0}}};
    poll(ready.data(), ready.size(), told ? -1 : 100);
    if (const int number = interrupts.take(); number != 0) return number;
    if (ready[0].revents == 0) continue;
    const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return cannot("read", errno);
    if (size == 0) return 0;
    total += static_cast<std::uint64_t>(size);
    if (total > kMaxRecordedInput)
      return fail(ErrorCode::kBadInput, "standard input is larger than 256 MiB",
                  "give a smaller one, or /dev/null");
    const std::span piece(buffer.data(), static_cast<std::size_t>(size));
    CLEW_CHECK_OK(keep(copy, piece));
  }
}

}  // namespace

Result<int> settle_standard_input(const std::function<void()>& slow) {
  struct stat status{};
  if (fstat(STDIN_FILENO, &status) != 0 || S_ISCHR(status.st_mode) || S_ISREG(status.st_mode))
    return 0;
  const FileDescriptor copy(memfd_create("clew input", MFD_CLOEXEC));
  if (!copy.valid()) return cannot("keep", errno);
  const auto done = read_to_end(copy.get(), slow);
  if (!done || *done != 0) return done;
  if (lseek(copy.get(), 0, SEEK_SET) < 0 || dup2(copy.get(), STDIN_FILENO) < 0)
    return cannot("keep", errno);
  return 0;
}

}  // namespace clew
