#include "cli/hunt_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <random>
#include <utility>

#include "cli/hunt_arguments.h"
#include "cli/standard_input.h"
#include "cli/validators.h"
#include "host/enumerate/enumerate_search.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

constexpr double kDefaultSeconds = 60;
// Much less than for a single run: a schedule that hangs costs all of its budget, at ten million
// points a second or more, and a hunt meets it again and again.
constexpr std::uint64_t kHuntBudget = 50'000'000;

struct ChoiceOption {
  abi::ChoiceKind kind;
  const char* name;
  const char* help;
};
constexpr std::array<ChoiceOption, 6> kChoiceOptions{{
    {abi::ChoiceKind::kSpurious, "--no-spurious", "No spurious wake-ups of condition waits"},
    {abi::ChoiceKind::kTimeout, "--no-timeouts", "Timeouts fire only when nothing else can run"},
    {abi::ChoiceKind::kTrylock, "--no-trylock-failures", "A trylock of a free lock succeeds"},
    {abi::ChoiceKind::kCas, "--no-cas-failures",
     "A weak compare-exchange of equal values succeeds"},
    {abi::ChoiceKind::kWake, "--no-wake-choice",
     "The thread that has waited longest is woken and gets the lock"},
    {abi::ChoiceKind::kPick, "--no-pick",
     "When a thread blocks, the one that has been ready longest runs next"},
}};
static_assert(kChoiceOptions.size() == static_cast<std::size_t>(abi::ChoiceKind::kCount));

Result<void> choose_strategy(HuntCommand& command) {
  if (command.strategy) command.hunt.strategy = *command.strategy;
  if (!command.hunt.from) return {};
  if (command.strategy && *command.strategy != "fuzz")
    return fail(ErrorCode::kUsage,
                fmt::format("--from cannot be combined with --strategy {}", *command.strategy),
                "fuzz is the strategy that starts from a given schedule");
  command.hunt.strategy = "fuzz";
  return {};
}

void add_limits(CLI::App& app, HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  app.add_option("--time", hunt.seconds,
                 "Stop after this many seconds (default, if --schedules is not given: 60)")
      ->type_name("SECONDS")
      ->check(positive());
  app.add_option("--schedules", hunt.schedules, "Stop after this many schedules")
      ->type_name("N")
      ->check(count());
}

void add_budget(CLI::App& app, HuntCommand& command) {
  app.add_option(
         "--budget", command.budget,
         "The clock at which a run counts as a hang (default: 50 million, raised once if runs "
         "are only slow)")
      ->type_name("CLOCK")
      ->check(count());
}

void add_search(CLI::App& app, HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  app.add_option("--strategy", command.strategy,
                 fmt::format("How schedules are chosen: {} (default: {})",
                             fmt::join(strategy_names(), ", "), strategy_names().front()))
      ->type_name("NAME")
      ->check(CLI::IsMember(strategy_names()).description(""));
  app.add_option("--depth", hunt.depth, "pct: number of events whose order causes the failure")
      ->type_name("N")
      ->check(count(kMostDepth))
      ->capture_default_str();
  app.add_option("--bound", hunt.bound, "exhaustive: at most this many preemptions in a schedule")
      ->type_name("N")
      ->check(whole(kMostBound))
      ->capture_default_str();
  app.add_option("--from", hunt.from,
                 "fuzz: the recording or schedule to start from; implies --strategy fuzz. From a "
                 "failing recording, the search is for a passing schedule")
      ->type_name("RECORDING|TEXT|FILE");
  app.add_option("--sigma", hunt.sigma, "fuzz: about how far switches are moved at first")
      ->type_name("EVENTS")
      ->check(positive())
      ->capture_default_str();
  app.add_flag_callback(
      "--no-passing", [&hunt] { hunt.keep_passing = false; },
      "Do not look for a passing schedule close to the failing one");
}

// How runs are made, whatever is searched for.
void add_runs(CLI::App& app, HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  app.add_option(
         "--seed", command.seed,
         "The same seed gives the same result, on any number of cores (default: a random one)")
      ->type_name("N")
      ->check(whole());
  app.add_option("--jobs", hunt.jobs,
                 "Runs at a time (default: one for each core, or one if the program changes files "
                 "or binds an "
                 "address)")
      ->type_name("N")
      ->check(count(kMostJobs));
  app.add_option("--child", command.child,
                 "Run the program as the Nth child that it forks, with nobody as its parent "
                 "(default: the first with threads, if the program itself has none)")
      ->type_name("N")
      ->check(count());
  app.add_option("--clock-speed", command.clock_speed,
                 "Virtual time passes N times as fast as usual (default: 1, or more if a run "
                 "takes seconds by the program's own clock)")
      ->type_name("N")
      ->check(CLI::Range(1u, kMaxClockSpeed));
  app.add_flag("--fork", command.start_anew, "A new process for every schedule (slower)");
}

void add_command(CLI::App& app, HuntCommand& command) {
  app.add_option("PROG", command.command,
                 "The program and its arguments; options after it are its own")
      ->type_name("ARGS")
      ->required();
}

void add_choices(CLI::App& app, HuntCommand& command) {
  for (const ChoiceOption& choice : kChoiceOptions)
    app.add_flag_callback(
           choice.name,
           [&command, kind = choice.kind] {
             command.hunt.choices &= ~(1u << static_cast<unsigned>(kind));
           },
           choice.help)
        ->group("What may happen besides switches");
}

}  // namespace

void add_hunt_options(CLI::App& app, HuntCommand& command) {
  add_limits(app, command);
  add_budget(app, command);
  add_search(app, command);
  add_runs(app, command);
  add_criteria(app, command.criteria);
  add_fails_if(app, command.watch, kCriteriaGroup);
  add_watch(app, command.watch);
  add_choices(app, command);
  add_command(app, command);
}

void add_program_options(CLI::App& app, HuntCommand& command) {
  app.add_option("--time", command.hunt.seconds,
                 "Stop after this many seconds (default: when the answer is found)")
      ->type_name("SECONDS")
      ->check(positive());
  add_budget(app, command);
  add_runs(app, command);
  add_criteria(app, command.criteria);
  add_command(app, command);
}

Result<void> complete(HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  if (auto chosen = choose_strategy(command); !chosen) return chosen;
  command.time_is_given = hunt.seconds > 0;
  if (hunt.schedules == 0 && hunt.seconds == 0) hunt.seconds = kDefaultSeconds;
  return complete_program(command);
}

Result<void> complete_program(HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  CLEW_TRY(auto criteria, criteria_of(command.criteria));
  hunt.criteria = std::move(criteria);
  hunt.seed = command.seed ? *command.seed
                           : std::uniform_int_distribution<std::uint64_t>(
                                 1, 999'999'999)(*std::make_unique<std::random_device>());
  hunt.in_place = !command.start_anew;
  hunt.enumerate = make_enumerate_search;

  const std::vector<std::string> arguments = without_marks(command.command);
  CLEW_TRY(auto plan, plan_program(arguments));
  hunt.plan = std::move(plan);
  CLEW_CHECK_OK(apply(command.watch, hunt.plan));
  hunt.plan.budget = command.budget.value_or(kHuntBudget);
  hunt.plan.enter_child = command.child;
  hunt.plan.clock_speed = command.clock_speed.value_or(1);
  hunt.clock_speed_is_given = command.clock_speed.has_value();
  hunt.budget_is_guess = !command.budget;
  hunt.plan.output = OutputMode::kCaptureOnly;
  return read_standard_input();
}

}  // namespace clew::cli
