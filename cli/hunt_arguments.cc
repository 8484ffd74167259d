#include "cli/hunt_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace clew::cli {
namespace {

constexpr char kMark = '=';

// Where "--" or the program's name stands.
std::size_t end_of_options(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::size_t i = 1;
  for (; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--" || !argument.starts_with('-')) return i;
    if (argument.find('=') != std::string_view::npos) continue;
    const CLI::Option* option = command.get_option_no_throw(arguments[i]);
    if (option == nullptr) return arguments.size();  // the parser will say so
    if (option->get_expected_max() > 0) ++i;
  }
  return i;
}

// Recordings follow the options of `isolate`, unless a schedule is among them.
bool has_schedule(std::span<const std::string> options) {
  return std::ranges::any_of(options, [](std::string_view option) {
    return option == "--fails" || option.starts_with("--fails=");
  });
}

}  // namespace

std::size_t end_of_own_options(const CLI::App& app, const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 5> kCommands{"run", "hunt", "debug", "isolate",
                                                      "pinpoint"};
  // Of a case the program follows "--" alone: recordings stand there otherwise.
  if (!arguments.empty() && arguments.front() == "case")
    return static_cast<std::size_t>(std::ranges::find(arguments, "--") - arguments.begin());
  if (arguments.empty() || std::ranges::find(kCommands, arguments.front()) == kCommands.end())
    return arguments.size();
  const std::size_t at = end_of_options(*app.get_subcommand(arguments.front()), arguments);
  if (at >= arguments.size()) return arguments.size();
  const bool recordings =
      arguments.front() == "isolate" && !has_schedule(std::span(arguments).first(at));
  return recordings ? arguments.size() : at;
}

std::vector<std::string> separate_program(const CLI::App& app, std::vector<std::string> arguments) {
  std::size_t at = end_of_own_options(app, arguments);
  if (at >= arguments.size()) return arguments;
  if (arguments[at] != "--")
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(at), "--");
  while (++at < arguments.size()) arguments[at].insert(arguments[at].begin(), kMark);
  return arguments;
}

std::vector<std::string> without_marks(std::vector<std::string> arguments) {
  for (std::string& argument : arguments)
    if (argument.starts_with(kMark)) argument.erase(0, 1);
  return arguments;
}

}  // namespace clew::cli
