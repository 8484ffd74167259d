#include "host/target/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "clew_abi/point.h"
#include "host/elf/elf_file.h"
#include "host/recording/file.h"
#include "host/toolchain/installation.h"

namespace clew {
namespace {

constexpr char kBuildHint[] = "build it with clew c++ (or CXX=clew-c++)";
constexpr char kNameOne[] = "name a program in it";
constexpr std::string_view kRuntimeName = "libclew_rt.so";
constexpr std::string_view kDynamicLinker = "/ld-linux-x86-64.so.2";

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, 4096> folder{};
  if (getcwd(folder.data(), folder.size()) == nullptr) return path;
  std::string_view rest = path;
  while (rest.starts_with("./")) rest.remove_prefix(2);
  return fmt::format("{}/{}", std::string_view(folder.data()) == "/" ? "" : folder.data(), rest);
}

std::unexpected<Error> cannot_run(const std::string& name, const char* why, std::string hint = {}) {
  if (hint.empty()) hint = "give the path of a program, and its arguments after it";
  return fail(ErrorCode::kBadInput, fmt::format("cannot run {}: {}", name, why), std::move(hint));
}

Result<void> check_file(const std::string& path, const std::string& shown) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return cannot_run(shown, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return cannot_run(shown, "it is a directory", kNameOne);
  if (!S_ISREG(status.st_mode)) return cannot_run(shown, "it is not a regular file");
  if (access(path.c_str(), X_OK) != 0)
    return errno == EACCES && (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0
               ? cannot_run(shown, "it is not executable", fmt::format("chmod +x {}", shown))
               : cannot_run(shown, std::strerror(errno));
  return {};
}

bool is_script(const std::string& path) {
  const auto start = read_file_start(path, 2);
  return start && start->size() == 2 && (*start)[0] == '#' && (*start)[1] == '!';
}

bool has_runtime(const ElfFile& file) {
  const auto needed = file.needed_libraries();
  return std::ranges::find(needed, kRuntimeName) != needed.end() ||
         file.section(CLEW_POINT_SECTION).has_value();
}

bool has_thread_sanitizer(const ElfFile& file) {
  const auto needed = file.needed_libraries();
  return std::ranges::any_of(needed,
                             [](const auto& name) { return name.starts_with("libtsan.so"); }) ||
         file.defines_symbol("__tsan_init");
}

// The dynamic linker preloads nothing into a program that gives its user additional privileges.
bool grants_privileges(const std::string& path) {
  struct stat status{};
  return (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) ||
         getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// Whether the kernel would tell it not to trust its caller (AT_SECURE).
bool gains_rights(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) ||
         ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
          status.st_gid != getgid()) ||
         (getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

// REQUIRES: `file` is a dynamically linked program that was not built with clew.
Result<void> check_preloadable(const ElfFile& file, const std::string& path,
                               const std::string& shown) {
  if (!file.interpreter().ends_with(kDynamicLinker))
    return cannot_run(shown, "it does not use the C library glibc", kBuildHint);
  if (grants_privileges(path))
    return cannot_run(shown, "it is set-user-ID, set-group-ID or has capabilities",
                      "run a copy of it that has none of these (cp makes one), or build it with "
                      "clew c++");
  if (has_thread_sanitizer(file))
    return cannot_run(
        shown,
        "it was built with ThreadSanitizer, whose own model of threads and memory does "
        "not fit clew's fibers",
        "build it without -fsanitize=thread: clew finds races by running the program "
        "under many schedules");
  return {};
}

Result<std::string> runtime_to_preload() {
  CLEW_TRY(const auto installation, toolchain::own_installation());
  std::string runtime = installation.runtime.string();
  if (runtime.find_first_of(": ;\t\n") != std::string::npos)
    return fail(
        ErrorCode::kBadInput,
        fmt::format("the path {} cannot be given to the dynamic linker: it contains a space "
                    "or a colon",
                    runtime),
        "install clew elsewhere, or build the program with clew c++");
  return runtime;
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.empty()) return cannot_run("''", "the name is empty");
  if (name.find('/') != std::string::npos) {
    CLEW_CHECK_OK(check_file(name, name));
    return absolute(name);
  }
  if (name == "." || name == "..") return cannot_run(name, "it is a directory", kNameOne);
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (;;) {
    const std::size_t colon = rest.find(':');
    const std::string folder(rest.substr(0, colon));
    const std::string path = folder.empty() ? name : folder + "/" + name;
    if (check_file(path, name)) return absolute(path);
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  const bool here = access(name.c_str(), X_OK) == 0;
  return cannot_run(name, "not found in PATH",
                    here ? fmt::format("for the one in this folder, write ./{}", name) : "");
}

Result<std::string> preload_for(const std::string& path, const std::string& shown) {
  CLEW_CHECK_OK(check_file(path, shown));
  if (is_script(path))
    return cannot_run(shown, "it is a script, not a program",
                      "name the program that the script starts");
  const auto file = ElfFile::open(path);
  if (!file) {
    if (file.error().code == ErrorCode::kSystem) return std::unexpected(file.error());
    return cannot_run(shown, "it is not a 64-bit x86 Linux program", kBuildHint);
  }
  if (!file->is_whole()) return cannot_run(shown, "it is truncated", "build it again");
  if (!file->is_executable() || file->interpreter().empty())
    return cannot_run(shown, "it is not a dynamically linked program",
                      "link it without -static, and not as a shared library");
  if (has_runtime(*file)) {
    if (gains_rights(path))
      return cannot_run(shown,
                        "it has more rights than you (set-user-ID, set-group-ID or capabilities), "
                        "and clew's runtime does not obey you there",
                        "run a copy of it that has none of these (cp makes one)");
    return "";
  }
  CLEW_CHECK_OK(check_preloadable(*file, path, shown));
  return runtime_to_preload();
}

std::vector<std::string> not_kept_of(const std::string& program) {
  std::vector<std::string> lines;
  const auto file = ElfFile::open(program);
  if (!file) return lines;
  if (file->section(".go.buildinfo") || file->section(".note.go.buildid"))
    lines.emplace_back(
        "it is a Go program: Go's own threads and signals are not clew's, and a replay may depart");
  if (file->imports_symbol("ptrace"))
    lines.emplace_back(
        "it contains calls of ptrace(): what it does to other processes is not recorded, and a "
        "replay may depart");
  for (const char* name : {"shm_open", "shmget"})
    if (file->imports_symbol(name))
      lines.push_back(
          fmt::format("it contains calls of {}(): what other processes write to memory that it "
                      "shares with them is not recorded, and a replay may depart",
                      name));
  return lines;
}

Result<LaunchPlan> plan_program(const std::vector<std::string>& command) {
  const std::string& shown = command.front();
  CLEW_TRY(auto program, find_program(shown));
  CLEW_TRY(auto preload, preload_for(program, shown));
  LaunchPlan plan = plan_here(program, command);
  plan.preload = std::move(preload);
  return plan;
}

}  // namespace clew
