// clew explain: why it fails.
#include "host/explain/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/explain_report.h"
#include "cli/isolate_report.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/explain/found.h"
#include "host/explain/question.h"
#include "host/isolate/isolate.h"
#include "host/report/explain_graph.h"
#include "host/report/explain_json.h"
#include "host/report/explain_text.h"
#include "host/report/words.h"
#include "host/seconds.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"
#include "host/time_limit.h"

namespace clew::cli {
namespace {

struct ExplainCommand {
  std::vector<std::string> words;
  double seconds = 0;
  std::string at;
  std::string ask;
  std::string slice;
  std::string graph;
  ExplainOptions explain;
  std::string json;
};

// Of the time, if an isolation has to be done first. Chosen, not measured.
constexpr double kIsolationsShare = 0.75;

Result<void> complete(ExplainCommand& command) {
  if (!command.at.empty() && !command.ask.empty())
    return fail(ErrorCode::kUsage, "--at and --ask are two questions", "give one of them");
  if (!command.at.empty()) {
    CLEW_TRY(command.explain.question, parse_question(command.at));
  }
  if (!command.ask.empty()) {
    CLEW_TRY(command.explain.question, parse_asked(command.ask));
  }
  if (command.slice == "dynamic") command.explain.shown = SliceShown::kDynamic;
  if (command.slice == "dual") command.explain.shown = SliceShown::kDual;
  return {};
}

// What an isolation left last: its failing side, and the passing one, which was recorded with it.
std::optional<std::pair<std::string, std::string>> newest_pair(const RecordingStore& store) {
  const auto listed = store.list(Detail::kAll);
  if (!listed) return std::nullopt;
  std::optional<std::uint64_t> failing;
  for (const Listed& one : *listed) {
    if (!one.meta || one.meta->origin.kind() == Origin::Kind::kProcess) continue;
    const bool fails = one.meta->summary.failure.has_value() || one.meta->judged.has_value();
    const bool isolated = one.meta->origin.kind() == Origin::Kind::kIsolation;
    // Whatever failed since is what the user asks about.
    if (!failing && fails && !isolated) return std::nullopt;
    if (!isolated) continue;
    if (!failing && fails) failing = one.number;
    if (failing && !fails) return std::pair(std::to_string(*failing), std::to_string(one.number));
  }
  return std::nullopt;
}

// Both recordings; nothing: there is no passing one, which has been said.
Result<std::optional<std::pair<std::string, std::string>>> pair_of(ExplainCommand& command,
                                                                   RecordingStore& store) {
  if (command.words.size() > 2)
    return fail(ErrorCode::kUsage, "there are more than two recordings",
                "clew explain [FAILING [PASSING]]");
  if (command.words.size() == 2) return std::pair(command.words[0], command.words[1]);
  if (command.words.empty())
    if (auto pair = newest_pair(store)) return pair;
  IsolateOptions options;
  options.simplify = true;
  if (!command.words.empty()) options.failing = command.words[0];
  options.seconds = command.seconds * kIsolationsShare;
  print_details("clew: isolating first: what tells a failing run from a passing one\n");
  IsolateStatusLine status;
  const auto isolated = isolate(options, store, status);
  status.clear();
  CLEW_CHECK_OK(isolated);
  if (isolated->failing && isolated->passing)
    return std::pair(std::to_string(*isolated->failing), std::to_string(*isolated->passing));
  const auto listed = store.list(Detail::kAll);
  for (const Listed& one : listed ? *listed : std::vector<Listed>{}) {
    const bool asked = command.words.empty() ? one.meta && one.meta->summary.failure.has_value()
                                             : std::to_string(one.number) == command.words[0];
    if (!asked || !one.meta || !one.meta->summary.failure) continue;
    if (shows_by_itself(one.meta->summary.failure->kind))
      return std::pair(std::to_string(one.number), std::to_string(one.number));
    break;
  }
  print_isolated(*isolated, store, command.json);
  return std::nullopt;
}

Result<int> run(ExplainCommand& command) {
  const Orphans orphans;  // ended last
  CLEW_CHECK_OK(complete(command));
  CLEW_TRY(auto store, RecordingStore::open());
  const double started = seconds_now();
  const TimeLimit limit(TimeLimit::with_keeping(command.seconds));
  const Interrupts interrupts;
  CLEW_TRY(const auto pair, pair_of(command, store));
  constexpr int kExitNotExplained = 122;
  if (!pair) {
    print_headline(Outcome::kUnresolved, "not explained: there is no passing run to compare with");
    return kExitNotExplained;
  }
  if (command.seconds > 0)
    command.explain.limits.seconds =
        std::max(command.seconds / 10, command.seconds - (seconds_now() - started));
  CLEW_TRY(const auto failing, prepare_replay(pair->first));
  CLEW_TRY(const auto passing, prepare_replay(pair->second));
  ProgressLine progress("explaining");
  const auto result = explain(failing, passing, command.explain, progress);
  progress.clear();
  if (!result && TimeLimit::is_over()) {
    print_headline(Outcome::kUnresolved, "not explained: the time was up");
    return kExitNotExplained;
  }
  CLEW_CHECK_OK(result);
  if (result->interrupted_by != 0) {
    print_headline(Outcome::kUnresolved, "interrupted");
    return 128 + result->interrupted_by;
  }
  print_explained(*result, command.json);
  if (result->cause.pattern == CausePattern::kNone) tell_if_stripped(failing.plan.program);
  // Interrupted while steps were tested: what is known is told all the same.
  const int interrupted = result->tests_interrupted_by;
  Json json = explain_json(*result);
  if (!command.slice.empty()) {
    const std::string text = slice_text(
        result->lines, command.slice == "pruned" ? "pruned dual" : command.slice.c_str());
    command.json == "-" ? print_details(text) : print_result(text);
    json["slice"]["shown"] = slice_json(result->lines);
  }
  CLEW_CHECK_OK(write_text(
      command.graph, command.graph.ends_with(".dot") ? slice_dot(*result) : slice_svg(*result)));
  CLEW_CHECK_OK(write_json(command.json, json));
  if (interrupted != 0) return 128 + interrupted;
  if (result->asked) return result->asked->thread.empty() ? kExitNotExplained : 0;
  return result->cause.pattern == CausePattern::kNone ? kExitNotExplained : 0;
}

}  // namespace

namespace {

void add_questions(CLI::App& app, ExplainCommand& command) {
  app.add_option("--at", command.at,
                 "Not why it fails, but why this line, or this variable there, is not as in the "
                 "passing run: its last execution that differs")
      ->type_name("FILE:LINE[:VARIABLE]");
  app.add_option("--ask", command.ask,
                 "The same as a question; 'why not' of a line that only the passing run executes")
      ->type_name("'why FILE:LINE[:VARIABLE]'|'why not FILE:LINE'");
  app.add_option(
         "--slice", command.slice,
         "List the lines of a slice as well: pruned (dual slices as the story is told from), "
         "dual (before pruning), dynamic (all that the failing run's end depends on)")
      ->type_name("pruned|dual|dynamic")
      ->check(CLI::IsMember({"pruned", "dual", "dynamic"}));
  app.add_option("--graph", command.graph,
                 "Write the slice as a picture, both runs in columns, as SVG or for Graphviz")
      ->type_name("FILE.svg|FILE.dot")
      ->check(picture())
      ->check(writable());
  app.add_option("--tests", command.explain.limits.tests,
                 "Test the steps by at most this many runs; 0: none")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole());
}

}  // namespace

void register_explain(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command = app.add_subcommand(
      "explain", "Tell why a recording fails: from the cause to the failure, step by step");
  command
      ->add_option("recordings", options->words,
                   "The failing recording, by number or folder, and a passing one of the same "
                   "program (default: what clew isolate left last; if there is nothing, clew "
                   "isolates the newest that failed)")
      ->type_name("[FAILING [PASSING]]");
  command
      ->add_option(
          "--time", options->seconds,
          "Stop after this many seconds, with what is known by then (default: steps are tested for "
          "30, and an isolation, if that has to be done first, has no limit)")
      ->type_name("SECONDS")
      ->check(positive());
  add_questions(*command, *options);
  add_full(*command);
  add_json(*command, options->json);
  command->footer(
      "Both recordings are run again with every instruction looked at (clew trace), aligned and\n"
      "compared; what the failure depends on is followed back to where the runs part.\n\n"
      "Examples:\n"
      "  clew explain\n"
      "  clew explain 7\n"
      "  clew explain 7 8 --full --json why.json\n"
      "  clew explain --graph why.svg\n"
      "  clew explain --ask 'why cache.cpp:41:count_'\n"
      "  clew explain --ask 'why not cache.cpp:57'\n\n"
      "Exit status: 0 explained, 122 not explained, 124 usage error, 125 bad input or system "
      "error,\n"
      "126 internal error, 128 + n interrupted by signal n.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
