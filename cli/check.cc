// clew check: whether the failures that cases keep are still there.
#include "host/cases/check.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/hunt_status.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/report/check_text.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"

namespace clew::cli {
namespace {

struct CheckCommand {
  CheckOptions check;
  std::string json;
  std::string junit;
};

Result<void> write_junit(const std::string& file, const CheckResult& result) {
  if (file.empty()) return {};
  const std::string text = check_junit(result);
  if (file == "-") {
    print_result(text);
    return {};
  }
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  if (!stream.flush()) return fail(ErrorCode::kSystem, "cannot write " + file);
  return {};
}

Outcome outcome_of(const CheckResult& result) {
  const int status = exit_status_of(result);
  return status == 0 ? Outcome::kPass : status == 1 ? Outcome::kFail : Outcome::kUnresolved;
}

Result<int> run(CheckCommand& command) {
  const Orphans orphans;  // ended last
  CheckOptions& check = command.check;
  if (check.files.empty()) check.files = find_cases(".");
  if (check.files.empty())
    return fail(ErrorCode::kUsage, "there is no case below this folder",
                "clew case new writes one; or name the files");
  CLEW_TRY(auto store, RecordingStore::open());
  const Interrupts interrupts;
  HuntStatusLine status(HuntStatusLine::Found::kQuiet);
  const CheckResult result = check_cases(check, store, status);
  status.clear();
  const bool to_output = command.json != "-" && command.junit != "-";
  for (const CheckedCase& one : result.cases)
    to_output ? print_result(checked_text(one)) : print_details(checked_text(one));
  print_headline(outcome_of(result), headline(result));
  CLEW_CHECK_OK(write_junit(command.junit, result));
  CLEW_CHECK_OK(write_json(command.json, check_json(result)));
  return exit_status_of(result);
}

void add_options(CLI::App& app, CheckCommand& command) {
  CheckOptions& check = command.check;
  app.add_option("cases", check.files, "Files of cases (default: all *.clewcase below this folder)")
      ->type_name("[CASES...]");
  app.add_option("--program", check.program,
                 "Run this build instead of the program that the cases name")
      ->type_name("FILE");
  app.add_option("--time", check.seconds, "Stop after this many seconds for each case")
      ->type_name("SECONDS")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--hunt", check.hunt,
                 "Schedules of the hunt around the order of a case that does not fail; 0: none")
      ->type_name("N")
      ->check(whole())
      ->capture_default_str();
  app.add_option("--jobs", check.jobs, "Runs at a time (default: one for each core)")
      ->type_name("N")
      ->check(count(kMostJobs));
  app.add_option("--seed", check.seed, "Seed of all random choices")
      ->type_name("N")
      ->check(whole())
      ->capture_default_str();
  add_json(app, command.json);
  app.add_option("--junit", command.junit, "Write the result as JUnit XML; - is standard output")
      ->type_name("FILE")
      ->check(writable());
}

}  // namespace

void register_check(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command = app.add_subcommand(
      "check", "Check cases: whether the failures that they keep are still there");
  add_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  clew check\n"
      "  clew check tests/lost_update.clewcase\n"
      "  clew check --program build/asan/queue_test tests/*.clewcase\n"
      "  clew check --junit check.xml --json check.json\n\n"
      "Exit status: 0 every case passes or is not possible any more, 1 a case fails, 122 a case\n"
      "cannot be placed, cannot be run or is open, 124 usage error, 125 bad input or system "
      "error,\n"
      "126 internal error, 128 + n interrupted by signal n.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
