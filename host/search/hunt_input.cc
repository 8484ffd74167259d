#include "host/search/hunt_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "host/search/standard_input.h"

namespace clew {
namespace {

std::unexpected<Error> cannot_read() {
  return fail(ErrorCode::kSystem,
              fmt::format("cannot read standard input: {}", std::strerror(errno)));
}

}  // namespace

Result<HuntInput> HuntInput::from_here() {
  HuntInput input;
  struct stat status{};
  if (fstat(STDIN_FILENO, &status) != 0 || S_ISCHR(status.st_mode)) return input;
  if (!S_ISREG(status.st_mode)) CLEW_CHECK_OK(settle_standard_input([] {}));
  input.file_ = FileDescriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  input.offset_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (!input.file_.valid()) return cannot_read();
  return input;
}

Result<HuntInput> HuntInput::of_recording(const Recording& recording) {
  HuntInput input;
  if (!recording.meta.stdin_data) {
    // The feed of a replay says why there is none, if there should be one.
    CLEW_CHECK_OK(InputFeed::from_recording(recording));
    return input;
  }
  CLEW_TRY(auto stored, open_regular(recording.stdin_file(), Whose::kOwn));
  input.file_ = std::move(stored.fd);
  return input;
}

Result<HuntInput> HuntInput::of_file(const std::string& path) {
  HuntInput input;
  if (path == "/dev/null") return input;
  input.file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!input.file_.valid())
    return fail(ErrorCode::kBadInput,
                fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return input;
}

Result<FileDescriptor> HuntInput::open() const {
  const std::string path =
      file_.valid() ? fmt::format("/proc/self/fd/{}", file_.get()) : "/dev/null";
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return cannot_read();
  if (file_.valid() && lseek(fd.get(), offset_, SEEK_SET) < 0) return cannot_read();
  return fd;
}

Result<InputFeed> HuntInput::feed(const Draft& draft) const {
  CLEW_TRY(auto source, open());
  return InputFeed::from_file(std::move(source), file_.valid() ? &draft : nullptr);
}

}  // namespace clew
