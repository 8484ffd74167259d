// clew isolate: from a failing schedule to the thread switches that matter.
#include "host/isolate/isolate.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/criteria_options.h"
#include "cli/hunt_arguments.h"
#include "cli/isolate_report.h"
#include "cli/standard_input.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/report/isolate_json.h"
#include "host/report/isolate_text.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

struct IsolateCommand {
  IsolateOptions isolate;
  CriteriaOptions criteria;
  bool same_failure = false;  // the default
  bool no_checkpoints = false;
  std::string json;
  std::vector<std::string> words;  // recordings, or with --fails the program and its arguments
  std::optional<std::string> fails;
};

Result<void> complete(IsolateCommand& command) {
  IsolateOptions& isolate = command.isolate;
  CLEW_TRY(auto criteria, criteria_of(command.criteria));
  isolate.criteria = std::move(criteria);
  isolate.checkpoints = !command.no_checkpoints;
  if (!command.fails) {
    if (isolate.passing || command.words.size() > 2)
      return fail(ErrorCode::kUsage,
                  isolate.passing ? "--passes needs --fails and a program"
                                  : "there are more than two recordings",
                  "clew isolate [FAILING [PASSING]], or with --fails a program");
    if (!command.words.empty()) isolate.failing = command.words[0];
    if (command.words.size() > 1) isolate.passing = command.words[1];
    return {};
  }
  if (command.words.empty())
    return fail(ErrorCode::kUsage, "--fails needs a program to run",
                "put it at the end: -- ./prog");
  CLEW_TRY(auto plan, plan_program(without_marks(command.words)));
  isolate.failing = *command.fails;
  isolate.program = std::move(plan);
  return read_standard_input();
}

Result<int> run(IsolateCommand& command) {
  const Orphans orphans;  // ended last
  CLEW_CHECK_OK(complete(command));
  CLEW_TRY(auto store, RecordingStore::open());
  const Interrupts interrupts;  // up to the end: what was found is reported
  IsolateStatusLine status;
  const auto result = isolate(command.isolate, store, status);
  status.clear();
  CLEW_CHECK_OK(result);
  print_isolated(*result, store, command.json);
  CLEW_CHECK_OK(write_json(command.json, isolate_json(*result)));
  return exit_status_of(*result);
}

void add_options(CLI::App& app, IsolateCommand& command) {
  IsolateOptions& isolate = command.isolate;
  app.add_option(
         "recordings", command.words,
         "The failing recording, by number or folder (default: the newest that failed), and "
         "a passing one of the same program (default: clew looks for one)")
      ->type_name("[FAILING [PASSING]]");
  app.add_option("--fails", command.fails,
                 "A failing schedule instead of a recording, as text or file; then a program "
                 "follows, and its arguments")
      ->type_name("SCHEDULE");
  app.add_option("--passes", isolate.passing, "A passing schedule, likewise")
      ->type_name("SCHEDULE");
  app.add_flag("--simplify", isolate.simplify,
               "First look for a failing schedule with as few preemptions as possible, and say how "
               "far each can be moved");
  auto* any = app.add_flag("--any-failure", isolate.any_failure,
                           "Any failure counts, not only the one of the recording");
  app.add_flag("--same-failure", command.same_failure,
               "Only a failure of the same kind at the same place counts, others are unresolved "
               "(default)")
      ->excludes(any);
  app.add_flag("--no-checkpoints", command.no_checkpoints,
               "Run every test from the beginning (slower)");
  app.add_option("--jobs", isolate.jobs,
                 "Runs at a time (default: one for each core, or one if the program changes files "
                 "or binds an "
                 "address)")
      ->type_name("N")
      ->check(count(kMostJobs));
  app.add_option("--tests", isolate.tests, "Stop after this many tests (default: no limit)")
      ->type_name("N")
      ->check(count());
  app.add_option("--time", isolate.seconds, "Stop after this many seconds (default: no limit)")
      ->type_name("SECONDS")
      ->check(positive());
  app.add_option("--sigma", isolate.sigma,
                 "About how far switches are moved at first to find a passing schedule")
      ->type_name("EVENTS")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--seed", isolate.seed, "Seed of the search for a passing schedule")
      ->type_name("N")
      ->check(whole())
      ->capture_default_str();
  add_full(app);
  add_json(app, command.json);
}

}  // namespace

void register_isolate(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<IsolateCommand>();
  CLI::App* command = app.add_subcommand(
      "isolate", "Find the thread switches that make a recording fail, by experiment");
  add_options(*command, *options);
  add_criteria(*command, options->criteria);
  command->footer(
      "A recording that was found with criteria (--judge, --fails-if-output, ...) is judged by "
      "the\n"
      "same ones here, unless others are given.\n\n"
      "Examples:\n"
      "  clew isolate\n"
      "  clew isolate --simplify\n"
      "  clew isolate 7 8\n"
      "  clew isolate --fails 5:T0.2,10:T0.3 --passes 6:T0.2 -- ./queue_test\n"
      "  clew isolate 7 --time 60 --json cause.json\n"
      "  clew isolate 7 --fails-if-output 'lost [0-9]+'\n\n"
      "Exit status: 0 isolated, 122 not isolated (no passing schedule, or a limit was reached "
      "first), "
      "124\n"
      "usage error, 125 bad input or system error, 126 internal error, 128 + n interrupted by\n"
      "signal n.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
