// A command or option that does not exist: said before anything runs, with the one that was probably
// meant.
#ifndef CLEW_CLI_SUGGEST_H_
#define CLEW_CLI_SUGGEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace CLI {
class App;
}

namespace clew::cli {

// The name with the fewest insertions, deletions, replacements and swaps of neighbours from `word`;
// nothing if none is close.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& names);

// `arguments` are clew's, the command first.
std::optional<Error> unknown_command(const CLI::App& app,
                                     const std::vector<std::string>& arguments);
std::optional<Error> unknown_option(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace clew::cli

#endif  // CLEW_CLI_SUGGEST_H_
