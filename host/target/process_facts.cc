#include "host/target/process_facts.h"

#include <fmt/format.h>
#include <sys/personality.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "host/target/slurp.h"

namespace clew {
namespace {

// Room for the largest that Linux allows (a quarter of the stack limit is the usual one).
constexpr std::size_t kMostText = std::size_t{8} << 20;

std::string slurp_if_sane(const std::string& path) {
  std::string text = slurp(path);
  if (text.size() > kMostText) text.clear();
  return text;
}

// Splits strings that end with a NUL each.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\0'), text.size());
    list.emplace_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return list;
}

// What follows `name` in its line, without the white space before it.
std::optional<std::string_view> behind(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n')
    at = text.find(name, at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  text = text.substr(at + name.size());
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop == text.data()) return std::nullopt;
  return value;
}

std::string link(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

bool has_fixed_addresses(const std::string& folder) {
  const std::string text = slurp_if_sane(folder + "/personality");
  const auto value = number(text, 16);
  return value && (*value & ADDR_NO_RANDOMIZE) != 0;
}

}  // namespace

std::optional<std::uint64_t> parse_stack_limit(std::string_view limits) {
  const auto value = behind(limits, "Max stack size");
  if (!value) return std::nullopt;
  if (value->starts_with("unlimited")) return UINT64_MAX;
  return number(*value, 10);
}

std::optional<std::uint64_t> parse_signal_set(std::string_view status, std::string_view name) {
  const auto value = behind(status, fmt::format("{}:", name));
  return value ? number(*value, 16) : std::nullopt;
}

std::optional<LaunchPlan> plan_of_process(pid_t pid, const std::string& started_as,
                                          std::uint32_t flags) {
  const std::string folder = fmt::format("/proc/{}", pid);
  const std::string status = slurp_if_sane(folder + "/status");
  const auto stack_limit = parse_stack_limit(slurp_if_sane(folder + "/limits"));
  const auto blocked = parse_signal_set(status, "SigBlk");
  const auto ignored = parse_signal_set(status, "SigIgn");
  const bool fixed = (flags & abi::kFlagLoadAgain) != 0 || has_fixed_addresses(folder);
  LaunchPlan plan;
  plan.flags = flags;
  plan.program = link(folder + "/exe");
  plan.started_as = started_as;
  plan.arguments = split(slurp_if_sane(folder + "/cmdline"));
  plan.environment = split(slurp_if_sane(folder + "/environ"));
  plan.working_folder = link(folder + "/cwd");
  if (!stack_limit || !blocked || !ignored || !fixed) return std::nullopt;
  if (plan.arguments.empty() || started_as.empty() || started_as.starts_with("/dev/fd/"))
    return std::nullopt;
  // A file that was removed has a name that does not exist.
  std::error_code error;
  if (!std::filesystem::is_regular_file(plan.program, error) ||
      !std::filesystem::is_directory(plan.working_folder, error))
    return std::nullopt;
  plan.shown = plan.arguments.front();
  plan.stack_limit = *stack_limit;
  plan.blocked_signals = *blocked;
  plan.ignored_signals = *ignored;
  return plan;
}

}  // namespace clew
