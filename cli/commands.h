// The subcommands. Each has a file of its own with its options and help; registering one adds it
// to the parser, and what it does when it is called ends in `exit_status`.
#ifndef CLEW_CLI_COMMANDS_H_
#define CLEW_CLI_COMMANDS_H_

namespace CLI {
class App;
}

namespace clew::cli {

void register_run(CLI::App& app, int& exit_status);
void register_hunt(CLI::App& app, int& exit_status);
void register_isolate(CLI::App& app, int& exit_status);
void register_debug(CLI::App& app, int& exit_status);
void register_replay(CLI::App& app, int& exit_status);
void register_where(CLI::App& app, int& exit_status);
void register_show(CLI::App& app, int& exit_status);
void register_list(CLI::App& app, int& exit_status);
void register_rm(CLI::App& app, int& exit_status);

}  // namespace clew::cli

#endif  // CLEW_CLI_COMMANDS_H_
