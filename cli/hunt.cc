// clew hunt: many runs, until one fails.
#include "host/search/hunt.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/hunt_each.h"
#include "cli/hunt_options.h"
#include "cli/hunt_status.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "cli/watch_options.h"
#include "host/report/finding_text.h"
#include "host/report/hunt_json.h"
#include "host/report/hunt_text.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"

namespace clew::cli {
namespace {

struct HuntOnce {
  HuntCommand command;
  bool each = false;
  std::string json;
  std::string junit;
};

Result<int> run(HuntOnce& once) {
  const Orphans orphans;  // ended last
  HuntCommand& command = once.command;
  CLEW_CHECK_OK(complete(command));
  CLEW_TRY(auto store, RecordingStore::open());
  tell_before_run(command.hunt.plan);
  if (once.each) return hunt_each(command.hunt, store, once.json, once.junit);

  const Interrupts interrupts;  // up to the end: what was found is reported
  HuntStatusLine status(command.hunt.keep_going ? HuntStatusLine::Found::kAnnounce
                                                : HuntStatusLine::Found::kQuiet);
  const auto result = hunt(command.hunt, store, status);
  status.clear();
  CLEW_CHECK_OK(result);
  for (const std::string& note : result->notes) print_details("clew: note: " + note + "\n");
  print_headline(outcome_of(*result), headline(*result));
  const LastWords words = last_words(store, result->failing.value_or(0));
  print_details(hunt_text(*result, words));
  if (is_watched(command.hunt.plan) || !result->findings.empty())
    print_headline(result->findings.empty() ? Outcome::kPass : Outcome::kFail,
                   findings_headline(result->findings));
  print_details(findings_text(result->findings, result->schedules));
  CLEW_CHECK_OK(write_junit(once.junit, command.hunt, *result, store));
  CLEW_CHECK_OK(write_json(once.json, hunt_json(*result, words)));
  return exit_status_of(*result);
}

void add_reports(CLI::App& app, HuntOnce& once) {
  app.add_flag("--keep-going", once.command.hunt.keep_going,
               "Do not stop at the first failure: record each different one once, and count them");
  app.add_flag("--each", once.each,
               "Hunt each test case of a GoogleTest, Catch2, doctest, Boost.Test or acutest "
               "program by itself, or "
               "each child process with threads that a program forks, sharing --time and "
               "--schedules among them");
  add_full(app);
  add_json(app, once.json);
  app.add_option("--junit", once.junit, "Write the result as JUnit XML; - is standard output")
      ->type_name("FILE")
      ->check(writable());
}

}  // namespace

void register_hunt(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<HuntOnce>();
  CLI::App* command =
      app.add_subcommand("hunt", "Run a program under many schedules until one fails");
  add_hunt_options(*command, options->command);
  add_reports(*command, *options);
  command->footer(
      "Examples:\n"
      "  clew hunt ./queue_test\n"
      "  clew hunt --time 600 --keep-going -- ./queue_test --items 3\n"
      "  clew hunt --fails-if-output 'lost [0-9]+' ./queue_test\n"
      "  clew hunt --fails-if race,lock-order ./queue_test\n"
      "  clew hunt --judge 'sort | cmp - expected.txt' ./queue_test\n"
      "  clew hunt ./tests --gtest_filter='Queue.*'\n"
      "  clew hunt --each --junit hunt.xml ./tests\n"
      "  clew hunt --strategy exhaustive --bound 2 ./queue_test\n\n"
      "Exit status: 0 nothing found, 1 a failure found, 122 no schedule could be judged, 124 "
      "usage\n"
      "error, 125 bad input or system error, 126 internal error, 128 + n interrupted by signal n\n"
      "with nothing found.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
