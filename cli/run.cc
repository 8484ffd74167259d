// clew run: one run, recorded.
#include <CLI/CLI.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/hunt_arguments.h"
#include "cli/recorded_run.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "cli/watch_options.h"
#include "host/schedule/schedule.h"
#include "host/schedule/stream.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

struct RunOptions {
  std::optional<std::uint64_t> seed;
  std::optional<std::string> schedule;
  std::string strategy = "timer";
  std::uint64_t budget = kDefaultBudget;
  WatchOptions watch;
  std::string json;
  std::vector<std::string> command;
};

std::uint64_t random_seed() {
  // Short enough to be typed.
  return std::uniform_int_distribution<std::uint64_t>(
      1, 999'999'999)(*std::make_unique<std::random_device>());
}

Result<LaunchPlan> make_plan(const RunOptions& options) {
  auto planned = plan_program(without_marks(options.command));
  if (!planned) return planned;
  LaunchPlan& plan = *planned;
  plan.budget = options.budget;
  plan.seed = options.seed ? *options.seed : random_seed();
  plan.schedule_seed = plan.seed;
  plan.strategy = options.strategy == "none" ? abi::StrategyKind::kNone : abi::StrategyKind::kTimer;
  CLEW_CHECK_OK(apply(options.watch, plan));
  if (options.schedule) {
    CLEW_TRY(const auto schedule, load_schedule(*options.schedule));
    plan.strategy = abi::StrategyKind::kSchedule;
    plan.follow = encode(schedule);
  }
  return planned;
}

Result<int> run(const RunOptions& options) {
  CLEW_TRY(auto plan, make_plan(options));
  return recorded_run(std::move(plan), options.json);
}

}  // namespace

void register_run(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a program once and record the run");
  command->add_option("--seed", options->seed, "Seed of the random slices (default: a random one)")
      ->type_name("N")
      ->check(whole());
  command
      ->add_option("--schedule", options->schedule,
                   "Switch threads at these clocks and nowhere else: a file, or a text such as "
                   "'6:T0.1, 9'")
      ->type_name("TEXT|FILE");
  command
      ->add_option("--strategy", options->strategy,
                   "timer: preempt after random slices; none: never preempt")
      ->check(CLI::IsMember({"timer", "none"}))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--budget", options->budget, "The clock at which the run counts as a hang")
      ->type_name("CLOCK")
      ->check(count())
      ->capture_default_str();
  add_watch(*command, options->watch);
  add_full(*command);
  add_json(*command, options->json);
  command
      ->add_option("PROG", options->command,
                   "The program and its arguments; options after it are its own")
      ->type_name("ARGS")
      ->required();
  command->footer(
      "Examples:\n"
      "  clew run ./queue_test\n"
      "  clew run --seed 7 ./queue_test --items 3\n"
      "  clew run --schedule '6:T0.1, 9' -- ./queue_test\n"
      "  clew run --watch races,lock-order,memory ./queue_test\n\n"
      "Exit status: the program's own (0, its exit status, 128 + n for signal n); 120 deadlock,\n"
      "121 hang, 122 unresolved, 124 usage error, 125 bad input or system error, 126 internal "
      "error.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
