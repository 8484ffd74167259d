// The subcommands. Each has a file of its own with its options and help; registering one adds it
// to the parser, and what it does when it is called ends in `exit_status`.
#ifndef CLEW_CLI_COMMANDS_H_
#define CLEW_CLI_COMMANDS_H_

namespace CLI {
class App;
}

namespace clew::cli {

// A name of commands.def: void register_run(CLI::App& app, int& exit_status), and so on.
#define CLEW_COMMAND(name) void register_##name(CLI::App& app, int& exit_status);
#include "cli/commands.def"
#undef CLEW_COMMAND

}  // namespace clew::cli

#endif  // CLEW_CLI_COMMANDS_H_
