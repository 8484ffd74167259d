#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "host/quote.h"
#include "host/recording/owner.h"
#include "host/recording/recording.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

// What a replay's inputs may take of memory, whatever the size of the file: a recording that says
// more must have come with a file in proportion.
constexpr std::uint64_t kAlwaysInputs = std::uint64_t{128} << 20;
constexpr std::uint64_t kMostExpansion = 256;
// The names of folders that are being created or removed begin with this.
constexpr std::string_view kTransitPrefix = ".transit-";
constexpr auto kTransitPatience = std::chrono::minutes(1);
constexpr std::string_view kRunHint = "record one with clew run -- PROG";

// Nobody makes so many; the number after it exists, whatever folders others put there.
constexpr std::uint64_t kMostNumber = 1'000'000'000'000'000;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc{} || stop != text.end() || number == 0 || number > kMostNumber ||
      text.front() == '0')
    return std::nullopt;
  return number;
}

fs::path transit_path(const fs::path& store) {
  static std::uint64_t count = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return store / fmt::format("{}{}-{}-{}", kTransitPrefix, ::getpid(), now, ++count);
}

bool is_locked(const fs::path& folder) {
  const auto lock = open_regular(folder / "lock", Whose::kOwn);
  return lock && ::flock(lock->fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

RecordingState state_of(const fs::path& folder) {
  std::error_code ignored;
  // The lock is checked first: between the two checks a running recording may become complete.
  const bool locked = is_locked(folder);
  if (fs::exists(folder / "meta.json", ignored)) return RecordingState::kComplete;
  return locked ? RecordingState::kRunning : RecordingState::kIncomplete;
}

Result<Meta> read_meta(const fs::path& folder) {
  const fs::path path = folder / "meta.json";
  CLEW_TRY(auto bytes, read_file(path, kMaxMetaSize, Whose::kOwn));
  return parse_meta({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

Result<void> check_captured(const fs::path& path, const Captured& captured) {
  CLEW_TRY(auto content, hash_file(path, Whose::kOwn, captured.stored));
  if (content.size == captured.stored && content.hash == captured.stored_hash) return {};
  const std::string what =
      content.size == captured.stored
          ? "its bytes have changed since it was recorded"
          : fmt::format("it has {} bytes, {} were recorded", content.size, captured.stored);
  return fail(ErrorCode::kBadInput, fmt::format("{} is damaged: {}", path.string(), what),
              "the recording cannot be used; make a new one with clew run");
}

// Sizes are checked before memory is taken.
Result<void> check_expansion(const fs::path& path, const Captured& inputs) {
  const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const bool in_proportion = inputs.size / kMostExpansion <= inputs.stored;
  const bool allowed = in_proportion || std::getenv(kLargeVariable) != nullptr;
  if (inputs.size <= kAlwaysInputs || (allowed && inputs.size <= memory)) return {};
  if (inputs.size > memory)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} holds {} bytes of input, more than this machine's memory of {}",
                            path.string(), inputs.size, memory),
                "a replay needs all of them in memory");
  return fail(ErrorCode::kBadInput,
              fmt::format("{} has {} bytes and says that it holds {}", path.string(), inputs.stored,
                          inputs.size),
              fmt::format("if you trust it: export {}=1", kLargeVariable));
}

Result<Recording> load_folder(std::uint64_t number, fs::path path) {
  switch (state_of(path)) {
    case RecordingState::kRunning:
      return fail(ErrorCode::kUsage, fmt::format("{} is still being recorded", path.string()),
                  "wait until that clew has ended, or give another recording (clew list)");
    case RecordingState::kIncomplete:
      return fail(
          ErrorCode::kBadInput,
          fmt::format("{} is incomplete: clew was stopped while it recorded", path.string()),
          "record again, and remove this one with: clew rm --incomplete");
    case RecordingState::kComplete:
    case RecordingState::kDamaged:
      break;
  }
  CLEW_CHECK_OK(check_folder_owner(path));
  CLEW_TRY(auto meta, read_meta(path));
  if (meta.inputs) CLEW_CHECK_OK(check_expansion(path / "inputs", *meta.inputs));
  Recording recording{number, std::move(path), std::move(meta)};
  Result<void> checked = check_captured(recording.stdout_file(), recording.meta.stdout_data);
  if (checked) checked = check_captured(recording.stderr_file(), recording.meta.stderr_data);
  if (checked && recording.meta.stdin_data)
    checked = check_captured(recording.stdin_file(), *recording.meta.stdin_data);
  if (checked && recording.meta.inputs)
    checked = check_captured(recording.inputs_file(), *recording.meta.inputs);
  CLEW_CHECK_OK(checked);
  return recording;
}

Result<Recording> load_path(std::string_view selector) {
  fs::path path = fs::path(selector).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "folder/"
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return fail(ErrorCode::kUsage, fmt::format("there is no recording {}", quote(selector, 200)),
                "give a number that clew list shows, or the path of a recording's folder");
  const bool looks_right = fs::is_directory(status) && (fs::exists(path / "meta.json", error) ||
                                                        fs::exists(path / "lock", error));
  if (!looks_right)
    return fail(ErrorCode::kUsage, fmt::format("{} is not a recording", quote(selector, 200)),
                "give a number that clew list shows, or the path of a recording's folder");
  const std::uint64_t number = parse_number(path.filename().string()).value_or(0);
  return load_folder(number, std::move(path));
}

std::uint64_t size_of(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const std::uintmax_t size = it->is_regular_file(ignored) ? it->file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

std::int64_t changed_ns(const fs::path& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) return 0;
  return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

Listed describe(std::uint64_t number, fs::path path, Detail detail) {
  Listed listed;
  listed.number = number;
  listed.path = std::move(path);
  listed.state = state_of(listed.path);
  if (detail == Detail::kState) return listed;
  listed.bytes = size_of(listed.path);
  listed.created_ns = changed_ns(listed.path);
  if (listed.state != RecordingState::kComplete) return listed;
  if (auto meta = read_meta(listed.path)) {
    listed.created_ns = meta->created_ns;
    // Of many recordings at a time; it is the most of each, and nothing of it is listed.
    meta->environment = {};
    listed.meta = *std::move(meta);
  } else {
    listed.state = RecordingState::kDamaged;
    listed.problem = std::move(meta.error());
  }
  return listed;
}

// An empty folder with a lock that we hold, ready to get its number.
Result<FileDescriptor> make_locked_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0) return std::unexpected(system_error("create", path, errno));
  FileDescriptor lock(::open((path / "lock").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    const Error error = system_error("create", path / "lock", errno);
    std::error_code ignored;
    fs::remove_all(path, ignored);
    return std::unexpected(error);
  }
  return lock;
}

}  // namespace

const char* to_word(RecordingState state) {
  switch (state) {
    case RecordingState::kComplete:
      return "complete";
    case RecordingState::kRunning:
      return "running";
    case RecordingState::kIncomplete:
      return "incomplete";
    case RecordingState::kDamaged:
      return "damaged";
  }
  return "damaged";
}

Result<RecordingStore> RecordingStore::open(fs::path path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status))
    return std::unexpected(system_error("use", path, ENOTDIR));
  if (!fs::exists(status) && status.type() != fs::file_type::not_found)
    return std::unexpected(system_error("use", path, error.value()));
  CLEW_CHECK_OK(check_folder_owner(path));
  return RecordingStore(std::move(path));
}

fs::path RecordingStore::folder(std::uint64_t number) const {
  return path_ / std::to_string(number);
}

Result<std::vector<std::uint64_t>> RecordingStore::numbers() const {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const auto number = parse_number(it->path().filename().string());
    // The directory entry knows its type: this takes no system call for each recording.
    if (number && !it->is_symlink(ignored) && it->is_directory(ignored)) numbers.push_back(*number);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return std::unexpected(system_error("read", path_, error.value()));
  std::ranges::sort(numbers);
  return numbers;
}

Result<Draft> RecordingStore::create() {
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
    return std::unexpected(system_error("create", path_, errno));
  CLEW_TRY(auto taken, numbers());
  const fs::path transit = transit_path(path_);
  CLEW_TRY(auto lock, make_locked_folder(transit));
  for (std::uint64_t number = taken.empty() ? 1 : taken.back() + 1;; ++number) {
    // rename(2) replaces only an empty folder, and a numbered folder contains its lock.
    if (::rename(transit.c_str(), folder(number).c_str()) == 0)
      return Draft(number, folder(number), std::move(lock));
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) continue;
    const Error error = system_error("create", folder(number), errno);
    std::error_code ignored;
    fs::remove_all(transit, ignored);
    return std::unexpected(error);
  }
}

Result<Recording> RecordingStore::load(std::string_view selector) const {
  const auto number = selector.empty() ? std::nullopt : parse_number(selector);
  if (!selector.empty() && !number) return load_path(selector);
  CLEW_TRY(auto all, numbers());
  if (all.empty())
    return fail(ErrorCode::kUsage, fmt::format("there are no recordings in {}", path_.string()),
                std::string(kRunHint));
  if (number) {
    if (std::ranges::binary_search(all, *number)) return load_folder(*number, folder(*number));
    return fail(ErrorCode::kUsage,
                fmt::format("there is no recording {} in {} (the newest is {})", *number,
                            path_.string(), all.back()),
                "clew list shows them");
  }
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (state_of(folder(*it)) != RecordingState::kComplete) continue;
    auto recording = load_folder(*it, folder(*it));
    if (!recording || recording->meta.parent == 0) return recording;
  }
  return fail(ErrorCode::kUsage,
              fmt::format("there is no complete recording in {}", path_.string()),
              std::string(kRunHint));
}

Result<std::vector<Listed>> RecordingStore::list(Detail detail) const {
  CLEW_TRY(auto all, numbers());
  std::vector<Listed> listed;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    listed.push_back(describe(*it, folder(*it), detail));
    std::error_code ignored;
    if (!fs::exists(listed.back().path, ignored)) listed.pop_back();  // removed in the meantime
  }
  return listed;
}

Result<void> RecordingStore::remove(std::uint64_t number) {
  const fs::path path = folder(number);
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::directory)
    return fail(ErrorCode::kUsage,
                fmt::format("there is no recording {} in {}", number, path_.string()),
                "clew list shows them");
  if (state_of(path) == RecordingState::kRunning)
    return fail(ErrorCode::kUsage, fmt::format("{} is still being recorded", path.string()),
                "stop that clew first, or wait until it has ended");
  const fs::path transit = transit_path(path_);
  if (::rename(path.c_str(), transit.c_str()) != 0)
    return std::unexpected(system_error("remove", path, errno));
  fs::remove_all(transit, error);
  if (error) return std::unexpected(system_error("remove", transit, error.value()));
  return {};
}

void RecordingStore::sweep() const {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(kTransitPrefix)) continue;
    std::error_code ignored;
    const auto age = fs::file_time_type::clock::now() - it->last_write_time(ignored);
    if (!ignored && age > kTransitPatience && !is_locked(it->path()))
      leftovers.push_back(it->path());
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, error);
}

}  // namespace clew
