// clew rank: functions that call differently when the program fails.
#include "host/calls/rank.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/hunt_options.h"
#include "cli/population_status.h"
#include "cli/rank_inputs.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/recording/file.h"
#include "host/report/rank_text.h"
#include "host/report/words.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"

namespace clew::cli {
namespace {

struct RankCommand {
  HuntCommand hunt;
  RankInputOptions inputs;
  std::string method = "default";
  std::string calls = "reduced";
  std::string level = "call";
  std::vector<std::string> evidence;
  std::size_t most = 10;
  std::uint32_t permutations = 199;
  bool all_the_time = false;
  std::string json;
  std::string csv;
  std::string graph;
};

RankOptions options_of(const RankCommand& command) {
  RankOptions options;
  options.hunt = command.hunt.hunt;
  options.budget_is_given = command.hunt.budget.has_value();
  options.method = command.method == "paper" ? RankMethod::kPaper : RankMethod::kDefault;
  options.graph = command.calls == "per-thread" ? GraphKind::kPerThread
                  : command.calls == "role"     ? GraphKind::kRoles
                  : command.calls == "tree"     ? GraphKind::kTree
                                                : GraphKind::kReduced;
  options.level = command.level == "block" ? CountLevel::kLines : CountLevel::kCalls;
  if (!command.evidence.empty()) {
    const auto has = [&](const char* word) {
      return std::ranges::find(command.evidence, word) != command.evidence.end();
    };
    options.evidence = RankEvidence{.branches = has("branches"),
                                    .interruptions = has("interruptions"),
                                    .phases = has("phases")};
  }
  options.permutations = command.permutations;
  options.until_stable = !command.all_the_time;
  options.runs_per_input = command.inputs.runs;
  return options;
}

Result<int> run(RankCommand& command) {
  const Orphans orphans;  // ended last
  if (command.inputs.given() && !command.hunt.strategy) command.hunt.strategy = "random";
  CLEW_CHECK_OK(complete(command.hunt));
  CLEW_TRY(auto store, RecordingStore::open());
  tell_before_run(command.hunt.hunt.plan);
  RankOptions options = options_of(command);
  CLEW_TRY(options.inputs, inputs_of(command.inputs, options.hunt));

  const Interrupts interrupts;  // up to the end: what was found is reported
  RankStatusLine status;
  const auto result = rank(options, store, status);
  status.clear();
  CLEW_CHECK_OK(result);
  for (const std::string& note : result->notes) print_details("clew: note: " + note + "\n");
  const std::size_t passing = result->table.runs(RunClass::kPassing);
  const std::size_t failing = result->table.runs(RunClass::kFailing);
  const bool both = passing > 0 && failing > 0;
  print_headline(both ? Outcome::kFail : Outcome::kUnresolved,
                 both
                     ? rank_headline(*result)
                     : fmt::format("nothing to compare: {} and {}", counted(passing, "passing run"),
                                   counted(failing, "failing run")));
  if (both && options.until_stable && !result->stable)
    print_details("  not stable yet: more runs may change it (--time, --schedules)\n");
  if (!both && result->interrupted_by == 0)
    print_details(fmt::format("hint: {}\n",
                              failing == 0
                                  ? "more --time, another --strategy, or other inputs (--inputs, "
                                    "--generate, --vary-seed); what counts as a failure: clew hunt "
                                    "--help"
                                  : "a program that always fails gives nothing to compare with"));
  if (command.json != "-") print_result(rank_text(*result, command.most));
  CLEW_CHECK_OK(write_text(command.csv, command.csv.empty() ? "" : rank_csv(*result)));
  CLEW_CHECK_OK(write_text(command.graph, command.graph.empty() ? "" : rank_svg(*result)));
  CLEW_CHECK_OK(write_json(command.json, rank_json(*result)));
  if (result->interrupted_by != 0 && !both) return 128 + result->interrupted_by;
  return output_status(both ? 1 : failing > 0 ? 1 : 0);
}

void add_options(CLI::App& app, RankCommand& command) {
  app.add_option("--method", command.method,
                 "default, or paper: calls among the program's own functions alone, scored by "
                 "the gain ratio of discretised counts")
      ->type_name("NAME")
      ->check(CLI::IsMember({"default", "paper"}).description(""));
  app.add_option("--calls", command.calls,
                 "What counts as the same call: reduced (caller and callee; the default), "
                 "per-thread, role (of the thread's first function), tree (chain of callers)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"reduced", "per-thread", "role", "tree"}).description(""));
  app.add_option("--level", command.level,
                 "call, or block: count how often source lines run instead of calls")
      ->type_name("NAME")
      ->check(CLI::IsMember({"call", "block"}).description(""));
  app.add_option(
         "--evidence", command.evidence,
         "What is looked at, of calls, branches, interruptions (another thread runs between two "
         "calls of a "
         "function) and phases (what happens after all other threads counts less); all by default")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::IsMember({"calls", "branches", "interruptions", "phases"}).description(""));
  app.add_option("--permutations", command.permutations,
                 "How often the classes are dealt out at random to tell an answer from noise")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--all", command.all_the_time,
               "Use all of --time or --schedules, also when the ranking is stable");
  app.add_option("--most", command.most, "How many functions are shown")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--csv", command.csv, "Write the table of all runs and calls")
      ->type_name("FILE")
      ->check(writable());
  app.add_option("--graph", command.graph, "Draw the calls, coloured by score, as SVG")
      ->type_name("FILE")
      ->check(writable());
  add_json(app, command.json);
}

}  // namespace

void register_rank(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RankCommand>();
  CLI::App* command = app.add_subcommand(
      "rank", "Rank functions by how differently they call when the program fails");
  add_options(*command, *options);
  add_rank_inputs(*command, options->inputs);
  add_hunt_options(*command, options->hunt);
  command->footer(
      "Examples:\n"
      "  clew rank ./queue_test\n"
      "  clew rank --vary-seed SEED -- ./garage\n"
      "  clew rank --inputs cases.txt --judge 'cmp - expected.txt' ./sort\n"
      "  clew rank --method paper --csv table.csv --graph calls.svg ./queue_test\n\n"
      "Exit status: 0 no run failed, 1 some did, 124 usage error, 125 bad input or system error, "
      "126\n"
      "internal error, 128 + n interrupted by signal n before there was anything to rank.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
