#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "clew_abi/version.h"
#include "host/recording/machine_facts.h"
#include "host/recording/recording.h"

namespace clew {
namespace {

// Unless it was imported with one.
Result<void> keep_machine(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {};
  const std::string text = format_machine(this_machine());
  CLEW_TRY(auto file, OutputFile::create(path));
  CLEW_CHECK_OK(file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
  return file.close();
}

}  // namespace

Draft::Draft(std::uint64_t number, std::filesystem::path path, FileDescriptor lock)
    : number_(number), path_(std::move(path)), lock_(std::move(lock)), owner_(::getpid()) {}

Draft::Draft(Draft&& other) noexcept
    : number_(other.number_),
      path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      owner_(other.owner_) {}

Draft& Draft::operator=(Draft&& other) noexcept {
  if (this != &other) {
    discard();
    number_ = other.number_;
    path_ = std::exchange(other.path_, {});
    lock_ = std::move(other.lock_);
    owner_ = other.owner_;
  }
  return *this;
}

Draft::~Draft() { discard(); }

void Draft::discard() noexcept {
  if (path_.empty() || owner_ != ::getpid()) return;
  // The lock is held until the folder is gone: others see a running recording, then none.
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  path_.clear();
}

Result<ScheduleFileWriter> Draft::open_schedule() const {
  return ScheduleFileWriter::create(path_ / "schedule");
}

Result<CaptureWriter> Draft::open_stdout(std::uint64_t cap) const {
  return CaptureWriter::create(path_ / "stdout", cap);
}

Result<CaptureWriter> Draft::open_stderr(std::uint64_t cap) const {
  return CaptureWriter::create(path_ / "stderr", cap);
}

Result<CaptureWriter> Draft::open_stdin() const {
  return CaptureWriter::create(path_ / "stdin", kUnlimited);
}

InputsWriter Draft::open_inputs() const { return InputsWriter(path_ / "inputs"); }

Result<void> Draft::sync() const {
  std::error_code error;
  for (std::filesystem::directory_iterator it(path_, error), end; !error && it != end;
       it.increment(error))
    if (auto done = sync_path(it->path()); !done) return done;
  if (error) return std::unexpected(system_error("write", path_, error.value()));
  return sync_path(path_.parent_path());
}

Result<Recording> Draft::commit(Meta meta, Durability durability) {
  CLEW_CHECK_OK(check_limits(meta));
  if (durability == Durability::kPowerCut) CLEW_CHECK_OK(sync());
  meta.recording_version = kRecordingVersion;
  meta.abi_version = abi::kVersion;
  meta.clew_version = CLEW_VERSION;
  CLEW_CHECK_OK(keep_machine(path_ / "machine"));
  const std::string text = format_meta(meta);
  if (text.size() > kMaxMetaSize)
    return fail(ErrorCode::kBadInput,
                fmt::format("arguments and environment are too large to be recorded: {} bytes, at "
                            "most {} are allowed",
                            text.size(), kMaxMetaSize));
  CLEW_CHECK_OK(write_file_atomically(
      path_ / "meta.json", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
      durability));
  Recording recording{number_, std::exchange(path_, {}), std::move(meta)};
  lock_ = FileDescriptor();
  return recording;
}

}  // namespace clew
