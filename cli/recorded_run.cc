#include "cli/recorded_run.h"

#include <fmt/format.h>

#include <utility>

#include "cli/hunt_arguments.h"
#include "cli/ui.h"
#include "cli/watch_options.h"
#include "host/calls/told_functions.h"
#include "host/names/findings.h"
#include "host/observe/event_names.h"
#include "host/recording/recording.h"
#include "host/report/finding_text.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/words.h"
#include "host/symbolize/locate.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/descendants.h"
#include "host/target/exit_status.h"
#include "host/target/replay.h"
#include "host/target/run_target.h"

namespace clew::cli {
namespace {

void print_summary(const LaunchPlan& plan, const RunResult& run, std::uint64_t number,
                   Symbolizer& symbols) {
  for (const Note& note : run.summary.notes)
    print_details("clew: note: " + printable(note.text) + "\n");
  if (run.summary.outcome == Outcome::kPass) {
    print_headline(Outcome::kPass, fmt::format("{}, recording {}", headline(run.summary), number));
    return;
  }
  print_headline(run.summary.outcome, headline(run.summary));
  print_details(failure_text(run, symbols));
  const bool drawn = plan.strategy == abi::StrategyKind::kTimer;
  print_details(fmt::format("  {}{}\n  replay it: clew replay {}\n", figures_text(run.summary),
                            drawn ? fmt::format(", seed {}", plan.seed) : "", number));
}

// Tells of the child processes that were recorded; the same as JSON.
Json report_children(const Descendants& descendants) {
  for (const std::string& note : descendants.notes())
    print_details("clew: note: " + printable(note) + "\n");
  Json list = Json::array();
  for (const RecordedChild& child : descendants.children()) {
    RunResult run = child.run;
    Symbolizer symbols(run.reports);
    locate_failure(run, symbols);
    locate_findings(run, symbols);
    print_headline(run.summary.outcome,
                   fmt::format("{}, process {} ({}), recording {}", headline(run.summary),
                               child.pid, printable(child.command), child.recording));
    if (!run.summary.findings.empty()) print_details(findings_text(run, symbols));
    if (run.summary.outcome != Outcome::kPass)
      print_details(fmt::format("{}  replay it: clew replay {}\n", failure_text(run, symbols),
                                child.recording));
    Json json = run_json(child.recording, run, symbols);
    json["process"] = child.pid;
    json["command"] = child.command;
    list.push_back(std::move(json));
  }
  return list;
}

// What threads wait for and hold, and what findings are about.
void name_all(const Recording& recording, RunResult& run, Symbolizer& symbols) {
  name_waited(run, symbols);
  if (run.reports.waits.empty() && run.reports.findings.empty()) return;
  const auto replay = prepare_replay(recording.path);
  if (!replay) return;
  name_waited(*replay, run, symbols);
  name_findings(*replay, run, symbols);
}

}  // namespace

void print_findings(const LaunchPlan& plan, const RunResult& run, Symbolizer& symbols) {
  if (!is_watched(plan) && run.summary.findings.empty()) return;
  print_headline(run.summary.findings.empty() ? Outcome::kPass : Outcome::kFail,
                 findings_headline(run.summary.findings));
  print_details(findings_text(run, symbols));
}

Result<int> recorded_run(LaunchPlan plan, const std::string& json_file) {
  if (json_file == "-") plan.output = OutputMode::kCaptureOnly;
  CLEW_TRY(auto identity, identify_program(plan.program));
  CLEW_TRY(auto store, RecordingStore::open());
  CLEW_TRY(auto draft, store.create());
  CLEW_TRY(auto input, InputFeed::from_here(&draft));
  const StdinKind input_kind = input.kind();

  plan.recording = draft.number();
  CLEW_TRY(auto descendants, Descendants::listen(plan, draft.number(), store));

  tell_before_run(plan);
  ToldFunctions functions = ToldFunctions::prepare(plan);
  functions.begin_run();
  ProgressLine progress;
  auto result = run_target(plan, std::move(input), &draft, progress, &descendants);
  progress.clear();
  CLEW_CHECK_OK(result);
  Symbolizer symbols(result->reports);
  locate_failure(*result, symbols);
  locate_findings(*result, symbols);

  Meta meta = meta_of_run(plan, *result, input_kind);
  meta.identity = identity;
  CLEW_TRY(const auto recording, draft.commit(std::move(meta)));

  if (result->seconds < kMostSecondsToAskAgain) {
    locate_holds(recording.path, *result, progress);
    find_stacks_of_findings(recording.path, *result, progress);
    name_all(recording, *result, symbols);
  }
  progress.clear();
  tell_if_output_lost(*result);
  print_summary(plan, *result, recording.number, symbols);
  print_findings(plan, *result, symbols);
  Json json = run_json(recording.number, *result, symbols);
  json["children"] = report_children(descendants);
  json["seed"] = plan.seed;
  CLEW_CHECK_OK(write_json(json_file, json));
  return exit_status_of(*result);
}

}  // namespace clew::cli
