#include "cli/suggest.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <span>

#include "cli/hunt_arguments.h"
#include "host/report/words.h"

namespace clew::cli {
namespace {

// Damerau and Levenshtein's distance, without moves over more than a letter.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                              table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kMostLetters = 40;  // no name is longer
  if (word.size() > kMostLetters) return std::nullopt;
  std::optional<std::string> best;
  // A third of its letters wrong: beyond that it is another word.
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& name : names)
    if (const std::size_t far = distance(word, name); far < least) {
      least = far;
      best = name;
    }
  return best;
}

std::optional<Error> unknown_command(const CLI::App& app,
                                     const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) return std::nullopt;
  const auto names = names_of_commands(app);
  if (std::ranges::find(names, arguments[0]) != names.end()) return std::nullopt;
  const auto meant = closest(arguments[0], names);
  return Error{
      ErrorCode::kUsage, fmt::format("there is no command '{}'", printable(arguments[0])),
      meant ? fmt::format("did you mean clew {}?", *meant) : "clew --help lists the commands"};
}

std::optional<Error> unknown_option(const CLI::App& app,
                                    const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const bool own = arguments[0].starts_with('-');  // clew --version
  const CLI::App& first = own ? app : *app.get_subcommand(arguments[0]);
  // clew case new
  const CLI::App* second = nullptr;
  if (!own && arguments.size() > 1)
    for (const CLI::App* one : first.get_subcommands([](const CLI::App*) { return true; }))
      if (one->get_name() == arguments[1]) second = one;
  const CLI::App& command = second != nullptr ? *second : first;
  const std::string of = (own ? "clew" : "clew " + arguments[0]) +
                         (second != nullptr ? " " + arguments[1] : std::string());
  const std::size_t end = end_of_own_options(app, arguments);
  for (std::size_t i = own ? 0 : second != nullptr ? 2 : 1; i < end; ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") break;
    // "-" is a file, "-5" a number that the option before it or the check of its value refuses.
    if (!argument.starts_with('-') || argument.size() == 1 ||
        std::isdigit(static_cast<unsigned char>(argument[1])) != 0)
      continue;
    const std::string name = argument.substr(0, argument.find('='));
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) {
      const auto meant = closest(name, names_of_options(command));
      return Error{ErrorCode::kUsage, fmt::format("{} has no option {}", of, printable(name)),
                   meant ? fmt::format("did you mean {}?", *meant)
                         : fmt::format("{} --help lists its options", of)};
    }
    if (option->get_expected_max() > 0 && argument.find('=') == std::string::npos) ++i;
  }
  return std::nullopt;
}

}  // namespace clew::cli
