// The options of a hunt, for the commands that hunt.
#ifndef CLEW_CLI_HUNT_OPTIONS_H_
#define CLEW_CLI_HUNT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/criteria_options.h"
#include "cli/watch_options.h"
#include "host/error.h"
#include "host/search/hunt.h"

namespace CLI {
class App;
}

namespace clew::cli {

struct HuntCommand {
  HuntOptions hunt;
  CriteriaOptions criteria;
  WatchOptions watch;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> strategy;
  std::optional<std::uint64_t> budget;
  std::optional<std::uint32_t> clock_speed;
  std::uint32_t child = 0;
  bool start_anew = false;
  bool time_is_given = false;
  std::vector<std::string> command;
};

// Limits, search, criteria, choices, the program and its arguments. `command` must live as long as
// `app`.
void add_hunt_options(CLI::App& app, HuntCommand& command);

// Of these, what every command that runs a program many times has: --time, --budget, --seed, --jobs,
// --child, --clock-speed, --fork, criteria, the program and its arguments.
void add_program_options(CLI::App& app, HuntCommand& command);

// Once the command line is read: the same without strategies. Without --time there is no limit.
[[nodiscard]] Result<void> complete_program(HuntCommand& command);

// Once the command line is read: makes `command.hunt` ready to run.
[[nodiscard]] Result<void> complete(HuntCommand& command);

}  // namespace clew::cli

#endif  // CLEW_CLI_HUNT_OPTIONS_H_
