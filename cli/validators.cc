#include "cli/validators.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

namespace clew::cli {
namespace {

CLI::Validator whole_from(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool all = end == text.data() + text.size();
        if (all &&
            (error == std::errc::result_out_of_range || (error == std::errc() && value > most)))
          return fmt::format("{} is too large: the largest is {}", text, most);
        if (error == std::errc() && all && value >= least) return "";
        return fmt::format("'{}' is not a whole number{}", text,
                           least > 0 ? " greater than 0" : ", 0 or greater");
      },
      "");
}

// Without creating or emptying it: the command may fail for another reason.
std::string why_not_writable(const std::string& target) {
  if (target.empty()) return "the name of a file is missing";
  if (target == "-") return "";
  struct stat status{};
  if (stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return fmt::format("'{}' is a directory", target);
    if (access(target.c_str(), W_OK) == 0) return "";
    return fmt::format("cannot write '{}': {}", target, std::strerror(errno));
  }
  const auto parent = std::filesystem::path(target).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (access(folder.c_str(), W_OK | X_OK) == 0 && !target.ends_with('/')) return "";
  return fmt::format("cannot write '{}': {}", target,
                     std::strerror(target.ends_with('/') ? EISDIR : errno));
}

}  // namespace

CLI::Validator positive() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value))
          return value <= kMostPositive
                     ? ""
                     : fmt::format("{} is too large: the largest is {:.0f}", text, kMostPositive);
        return fmt::format("'{}' is not a number greater than 0", text);
      },
      "");
}

CLI::Validator count(std::uint64_t most) { return whole_from(1, most); }
CLI::Validator whole(std::uint64_t most) { return whole_from(0, most); }

CLI::Validator writable() {
  return CLI::Validator([](std::string& text) { return why_not_writable(text); }, "");
}

CLI::Validator picture() {
  return CLI::Validator(
      [](std::string& file) {
        return file.ends_with(".svg") || file.ends_with(".dot")
                   ? std::string()
                   : "the file's name must end with .svg or .dot";
      },
      "");
}

}  // namespace clew::cli
