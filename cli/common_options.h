// Options that several commands have.
#ifndef CLEW_CLI_COMMON_OPTIONS_H_
#define CLEW_CLI_COMMON_OPTIONS_H_

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace clew::cli {

// --json FILE: refused at once if it cannot be written, not after a hunt of an hour.
CLI::Option* add_json(CLI::App& app, std::string& target);

// --full: names as they are demangled, and all frames of a stack.
void add_full(CLI::App& app);

}  // namespace clew::cli

#endif  // CLEW_CLI_COMMON_OPTIONS_H_
