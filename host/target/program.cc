#include "host/target/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "clew_abi/point.h"
#include "host/elf/elf_file.h"

namespace clew {
namespace {

constexpr char kBuildHint[] = "build it with clew c++ (or CXX=clew-c++)";
constexpr std::string_view kRuntimeName = "libclew_rt.so";

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, 4096> folder{};
  if (getcwd(folder.data(), folder.size()) == nullptr) return path;
  std::string_view rest = path;
  while (rest.starts_with("./")) rest.remove_prefix(2);
  return fmt::format("{}/{}", std::string_view(folder.data()) == "/" ? "" : folder.data(), rest);
}

std::unexpected<Error> cannot_run(const std::string& name, const char* why, std::string hint = {}) {
  if (hint.empty()) hint = "give the path of a program: clew run -- ./prog arguments";
  return fail(ErrorCode::kBadInput, fmt::format("cannot run {}: {}", name, why), std::move(hint));
}

Result<void> check_file(const std::string& path, const std::string& shown) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return cannot_run(shown, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return cannot_run(shown, "it is a directory");
  if (!S_ISREG(status.st_mode)) return cannot_run(shown, "it is not a regular file");
  if (access(path.c_str(), X_OK) != 0) return cannot_run(shown, std::strerror(errno));
  return {};
}

bool is_script(const std::string& path) {
  std::array<char, 2> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return start[0] == '#' && start[1] == '!';
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.empty()) return cannot_run("''", "the name is empty");
  if (name.find('/') != std::string::npos) {
    if (auto usable = check_file(name, name); !usable) return std::unexpected(usable.error());
    return absolute(name);
  }
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

Result<void> check_program(const std::string& path, const std::string& shown) {
  if (auto usable = check_file(path, shown); !usable) return usable;
  if (is_script(path))
    return cannot_run(shown, "it is a script, not a program built with clew",
                      "name the program that the script starts");
  const auto file = ElfFile::open(path);
  if (!file) {
    if (file.error().code == ErrorCode::kSystem) return std::unexpected(file.error());
    return cannot_run(shown, "it is not a 64-bit x86 Linux program", kBuildHint);
  }
  const auto needed = file->needed_libraries();
  const bool built = std::ranges::find(needed, kRuntimeName) != needed.end() ||
                     file->section(CLEW_POINT_SECTION).has_value();
  if (!built)
    return fail(ErrorCode::kBadInput, fmt::format("{} was not built with clew", shown), kBuildHint);
  if (!file->is_executable() || !file->has_interpreter())
    return cannot_run(shown, "it is no dynamically linked program",
                      "link it without -static, and not as a shared library");
  return {};
}

}  // namespace clew
