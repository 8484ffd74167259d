#include "host/target/portable.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "host/elf/elf_file.h"
#include "host/recording/content_hash.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostLoads = std::uint64_t{64} << 20;

// A folder for the time of the replay.
class Workplace {
 public:
  static Result<Workplace> make() {
    std::string name = (fs::temp_directory_path() / "clew-export-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      return std::unexpected(system_error("create", name, errno));
    return Workplace(name);
  }
  Workplace(Workplace&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  ~Workplace() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  const fs::path& folder() const { return folder_; }
  Result<void> write(const fs::path& name, std::string_view text) const {
    CLEW_TRY(auto file, OutputFile::create(folder_ / name));
    CLEW_CHECK_OK(file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
    return file.close();
  }

 private:
  explicit Workplace(fs::path folder) : folder_(std::move(folder)) {}
  fs::path folder_;
};

// The paths that the dynamic linker opened, each once, in their order.
Result<std::vector<std::string>> read_loads(const fs::path& file) {
  CLEW_TRY(const auto bytes, read_file(file, kMostLoads));
  std::vector<std::string> paths;
  std::string path;
  for (const std::uint8_t byte : bytes) {
    if (byte != 0) {
      path += static_cast<char>(byte);
    } else {
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
      path.clear();
    }
  }
  return paths;
}

Result<void> check_same(const Replay& replay, const Replay& tried, RunObserver& observer,
                        const char* what) {
  CLEW_TRY(const auto run, run_replay(tried, observer));
  if (run.interrupted_by != 0) return fail(ErrorCode::kSystem, "interrupted");
  const auto lines = differences(replay.recording.meta, run);
  if (lines.empty()) return {};
  return fail(ErrorCode::kBadInput, fmt::format("{}: {}", what, lines.front()));
}

// At the addresses of the recording, and then at those that are possible on any machine.
Result<void> check_portable(const Replay& replay, const Replay& tried, RunObserver& observer) {
  const auto moved =
      check_same(replay, tried, observer,
                 "the run depends on addresses that only this machine's kernel gives it");
  if (moved || replay.recording.meta.loaded_again) {
    if (moved) return {};
    return fail(moved.error().code, "the replay is not the recorded run, here already",
                "clew replay says where it departs");
  }
  Replay plain = replay;
  plain.plan.output = OutputMode::kCaptureOnly;
  auto here =
      check_same(replay, plain, observer, "the replay is not the recorded run, here already");
  if (!here) {
    here.error().hint = "clew replay says where it departs";
    return here;
  }
  Error error = moved.error();
  error.hint = "record it at addresses that are possible everywhere: CLEW_LOAD_AGAIN=1 clew run";
  return std::unexpected(std::move(error));
}

Result<void> add_file(const std::string& path, const fs::path& folder, Bundle& bundle) {
  const fs::path file = folder / path;
  CLEW_TRY(const auto content, hash_file(file));
  bundle.push_back({path, file, content.size, content.hash});
  return {};
}

// A recording that was imported: what it was before.
Result<Portable> make_portable_again(const Replay& replay, RunObserver& observer) {
  CLEW_TRY(auto start, read_start_file(replay.plan.started_as));
  Replay tried = replay;
  tried.plan.output = OutputMode::kCaptureOnly;
  CLEW_CHECK_OK(check_portable(replay, tried, observer));
  Portable portable{replay.recording.meta, std::move(start.files)};
  portable.meta.program = start.program;
  portable.meta.started_as = start.started_as;
  return portable;
}

}  // namespace

Result<Portable> make_portable(const Replay& replay, RunObserver& observer) {
  if (is_start_file(replay.plan.started_as)) return make_portable_again(replay, observer);
  Portable portable{replay.recording.meta, {}};
  Bundle& bundle = portable.bundle;
  CLEW_TRY(const auto program, ElfFile::open(replay.plan.program));
  const fs::path folder = replay.plan.working_folder;
  CLEW_CHECK_OK(add_file(replay.plan.program, folder, bundle));
  CLEW_CHECK_OK(add_file(std::string(program.interpreter()), folder, bundle));
  CLEW_TRY(const auto workplace, Workplace::make());
  const fs::path loads = workplace.folder() / "loads";
  const std::string& started_as = replay.plan.started_as;
  CLEW_CHECK_OK(workplace.write("loads", ""));
  CLEW_CHECK_OK(workplace.write(
      kStartFileName, format_start_file({started_as.empty() ? replay.plan.program : started_as,
                                         replay.plan.program, loads.string(), bundle})));
  Replay tried = replay;
  tried.plan.output = OutputMode::kCaptureOnly;
  tried.plan.started_as = (workplace.folder() / kStartFileName).string();
  tried.plan.loaded_elsewhere = false;
  tried.plan.flags |= abi::kFlagLoadAgain;
  CLEW_CHECK_OK(check_portable(replay, tried, observer));
  CLEW_TRY(const auto paths, read_loads(loads));
  for (const std::string& path : paths)
    if (std::ranges::find(bundle, path, &BundledFile::path) == bundle.end())
      CLEW_CHECK_OK(add_file(path, folder, bundle));
  portable.meta.loaded_again = true;
  if (const std::string problem = problem_of(bundle); !problem.empty())
    return fail(ErrorCode::kBadInput, fmt::format("the program's files {}", problem));
  return portable;
}

}  // namespace clew
