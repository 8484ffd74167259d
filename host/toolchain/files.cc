#include "host/toolchain/files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace clew::toolchain {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::optional<std::string> read(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return content;
}

}  // namespace

Files files_on_disk() { return {.exists = exists, .read = read}; }

}  // namespace clew::toolchain
