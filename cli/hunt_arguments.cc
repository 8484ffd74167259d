#include "cli/hunt_arguments.h"

#include <CLI/CLI.hpp>
#include <cstddef>
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

}  // namespace

std::vector<std::string> separate_program(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty() || (arguments.front() != "hunt" && arguments.front() != "debug"))
    return arguments;
  std::size_t at = end_of_options(*app.get_subcommand(arguments.front()), arguments);
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
