// clew hunt: many runs, until one fails.
#include "host/search/hunt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/hunt_arguments.h"
#include "cli/hunt_each.h"
#include "cli/hunt_status.h"
#include "cli/ui.h"
#include "host/report/hunt_json.h"
#include "host/report/hunt_text.h"
#include "host/search/criteria.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

constexpr double kDefaultSeconds = 60;
// Much less than for a single run: a schedule that hangs costs all of its budget, at ten million
// points a second or more, and a hunt meets it again and again.
constexpr std::uint64_t kHuntBudget = 50'000'000;

struct HuntCommand {
  HuntOptions hunt;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> strategy;
  std::optional<std::uint64_t> budget;
  std::vector<std::string> only;  // lists with commas
  bool start_anew = false;
  bool each = false;
  std::string json;
  std::string junit;
  std::vector<std::string> command;
  Isolation isolation = Isolation::kMissing;
};

struct ChoiceOption {
  abi::ChoiceKind kind;
  const char* name;
  const char* help;
};
constexpr std::array<ChoiceOption, 6> kChoiceOptions{{
    {abi::ChoiceKind::kSpurious, "--no-spurious", "Condition waits never return unasked"},
    {abi::ChoiceKind::kTimeout, "--no-timeouts", "Timeouts fire only when nothing else can run"},
    {abi::ChoiceKind::kTrylock, "--no-trylock-failures", "A trylock of a free lock succeeds"},
    {abi::ChoiceKind::kCas, "--no-cas-failures",
     "A weak compare-exchange of equal values succeeds"},
    {abi::ChoiceKind::kWake, "--no-wake-choice",
     "The thread that waits longest is woken and gets the lock"},
    {abi::ChoiceKind::kPick, "--no-pick",
     "When a thread blocks, the one that is ready longest goes on"},
}};
static_assert(kChoiceOptions.size() == static_cast<std::size_t>(abi::ChoiceKind::kCount));

// ---- What to do

std::vector<std::string> split(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists)
    for (std::string& word : CLI::detail::split(list, ',')) words.push_back(std::move(word));
  return words;
}

Result<void> choose_strategy(HuntCommand& command) {
  if (command.strategy) command.hunt.strategy = *command.strategy;
  if (!command.hunt.from) return {};
  if (command.strategy && *command.strategy != "fuzz")
    return fail(ErrorCode::kUsage,
                fmt::format("--from does not go with --strategy {}", *command.strategy),
                "fuzz is the strategy that starts from a given schedule");
  command.hunt.strategy = "fuzz";
  return {};
}

Result<void> complete(HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  if (auto chosen = choose_strategy(command); !chosen) return chosen;
  hunt.criteria.only = split(command.only);
  // The hunt would notice too, but only after the program was started.
  if (const auto judge = Judge::create(hunt.criteria); !judge)
    return std::unexpected(judge.error());
  if (hunt.schedules == 0 && hunt.seconds == 0) hunt.seconds = kDefaultSeconds;
  hunt.seed = command.seed ? *command.seed
                           : std::uniform_int_distribution<std::uint64_t>(
                                 1, 999'999'999)(*std::make_unique<std::random_device>());
  hunt.in_place = !command.start_anew;

  const std::vector<std::string> arguments = without_marks(command.command);
  auto program = find_program(arguments.front());
  if (!program) return std::unexpected(program.error());
  if (auto usable = check_program(*program, arguments.front()); !usable) return usable;
  hunt.plan = plan_here(*program, arguments);
  hunt.plan.budget = command.budget.value_or(kHuntBudget);
  hunt.budget_is_guess = !command.budget;
  hunt.plan.output = OutputMode::kCaptureOnly;
  return {};
}

Result<int> run(HuntCommand& command) {
  if (auto done = complete(command); !done) return std::unexpected(done.error());
  auto store = RecordingStore::open();
  if (!store) return std::unexpected(store.error());
  if (command.each) return hunt_each(command.hunt, *store, command.json, command.junit);

  HuntStatusLine status(command.hunt.keep_going ? HuntStatusLine::Found::kAnnounce
                                                : HuntStatusLine::Found::kQuiet);
  const auto result = hunt(command.hunt, *store, status);
  status.clear();
  if (!result) return std::unexpected(result.error());
  for (const std::string& note : result->notes) print_details("clew: note: " + note + "\n");
  print_headline(outcome_of(*result), headline(*result));
  print_details(hunt_text(*result, command.isolation));
  if (auto done = write_junit(command.junit, command.hunt, *result, *store); !done)
    return std::unexpected(done.error());
  if (auto done = write_json(command.json, hunt_json(*result)); !done)
    return std::unexpected(done.error());
  return exit_status_of(*result);
}

// ---- Options

// The library's own names the largest number there is in its error.
CLI::Validator positive() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)) return "";
        return fmt::format("{} is not a number greater than 0", text);
      },
      "");
}

void add_limits(CLI::App& app, HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  app.add_option("--time", hunt.seconds,
                 "At most so long (default, if --schedules is not given: 60)")
      ->type_name("SECONDS")
      ->check(positive());
  app.add_option("--schedules", hunt.schedules, "At most so many runs")
      ->type_name("N")
      ->check(positive());
  app.add_flag("--keep-going", hunt.keep_going,
               "Do not stop at the first failure: keep each different one once, and count");
  app.add_option(
         "--budget", command.budget,
         "The clock at which a run counts as a hang (default: 50 million, raised once if runs "
         "are only slow)")
      ->type_name("CLOCK")
      ->check(positive());
}

void add_search(CLI::App& app, HuntCommand& command) {
  HuntOptions& hunt = command.hunt;
  app.add_option("--strategy", command.strategy,
                 fmt::format("How schedules are chosen: {} (default: {})",
                             fmt::join(strategy_names(), ", "), strategy_names().front()))
      ->type_name("NAME")
      ->check(CLI::IsMember(strategy_names()).description(""));
  app.add_option("--seed", command.seed,
                 "The same seed is the same hunt, on any number of cores (default: a new one)")
      ->type_name("N");
  app.add_option("--jobs", hunt.jobs, "Runs at a time (default: one for each core)")
      ->type_name("N")
      ->check(positive());
  app.add_option("--depth", hunt.depth, "pct: number of events whose order makes the failure")
      ->type_name("N")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--bound", hunt.bound, "exhaustive: preemptions in a schedule, at most")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--from", hunt.from,
                 "fuzz: the recording or schedule to start from; implies --strategy fuzz")
      ->type_name("RECORDING|TEXT|FILE");
  app.add_flag("--fork", command.start_anew, "A new process for every schedule (slower)");
}

void add_criteria(CLI::App& app, HuntCommand& command) {
  constexpr char kGroup[] = "What counts as a failure";
  Criteria& criteria = command.hunt.criteria;
  app.add_option(
         "--only", command.only,
         fmt::format("Only these, separated by commas; other failures count as unresolved: {}",
                     fmt::join(failure_kinds(), ", ")))
      ->type_name("KIND")
      ->expected(1)
      ->take_all()
      ->group(kGroup);
  app.add_option("--fails-if-output", criteria.fails_if_output,
                 "Also a run whose output contains this regular expression")
      ->type_name("RE")
      ->group(kGroup);
  app.add_option("--fails-unless-output", criteria.fails_unless_output,
                 "Also a run whose output does not contain it")
      ->type_name("RE")
      ->group(kGroup);
  app.add_flag("--fails-if-output-differs", criteria.fails_if_output_differs,
               "Also a run whose output is not the first run's")
      ->group(kGroup);
  app.add_option("--judge", criteria.judge,
                 "A shell command decides: standard output on its input, CLEW_EXIT_STATUS and "
                 "CLEW_STDERR_FILE in its environment; 0 pass, 1 to 124 fail, 125 neither")
      ->type_name("COMMAND")
      ->group(kGroup);
}

void add_choices(CLI::App& app, HuntCommand& command) {
  for (const ChoiceOption& choice : kChoiceOptions)
    app.add_flag_callback(
           choice.name,
           [&command, kind = choice.kind] {
             command.hunt.choices &= ~(1u << static_cast<unsigned>(kind));
           },
           choice.help)
        ->group("What may happen beside switches");
}

void add_reports(CLI::App& app, HuntCommand& command) {
  app.add_flag("--each", command.each,
               "Hunt each test case of a GoogleTest, Catch2 or doctest program by itself, sharing "
               "--time and --schedules among them");
  app.add_option("--json", command.json, "Write the result as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--junit", command.junit, "Write the result as JUnit XML; - is standard output")
      ->type_name("FILE");
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; }).empty();
}

}  // namespace

void register_hunt(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<HuntCommand>();
  CLI::App* command =
      app.add_subcommand("hunt", "Run a program under many schedules until one fails");
  add_limits(*command, *options);
  add_search(*command, *options);
  add_reports(*command, *options);
  add_criteria(*command, *options);
  add_choices(*command, *options);
  command
      ->add_option("PROG", options->command,
                   "The program, built with clew, and its arguments; options after it are its own")
      ->type_name("ARGS")
      ->required();
  command->footer(
      "Examples:\n"
      "  clew hunt ./queue_test\n"
      "  clew hunt --time 600 --keep-going -- ./queue_test --items 3\n"
      "  clew hunt --fails-if-output 'lost [0-9]+' ./queue_test\n"
      "  clew hunt --judge 'sort | cmp - expected.txt' ./queue_test\n"
      "  clew hunt ./tests --gtest_filter='Queue.*'\n"
      "  clew hunt --each --junit hunt.xml ./tests\n"
      "  clew hunt --strategy exhaustive --bound 2 ./queue_test\n\n"
      "Exit status: 0 nothing found, 1 a failure found, 122 no schedule could be judged, 124 "
      "usage\n"
      "error, 125 bad input or system error, 126 internal error, 128 + n interrupted by signal n\n"
      "with nothing found.");
  command->callback([options, &app, &exit_status] {
    if (has_command(app, "isolate")) options->isolation = Isolation::kThere;
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
