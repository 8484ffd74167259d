// clew debug: from a program that sometimes fails to the cause, in one command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/debug_deep.h"
#include "cli/explain_report.h"
#include "cli/hunt_options.h"
#include "cli/hunt_status.h"
#include "cli/isolate_report.h"
#include "cli/ui.h"
#include "host/explain/explain.h"
#include "host/explain/found.h"
#include "host/isolate/isolate.h"
#include "host/names/findings.h"
#include "host/report/event_words.h"
#include "host/report/explain_json.h"
#include "host/report/explain_text.h"
#include "host/report/hunt_json.h"
#include "host/report/hunt_text.h"
#include "host/report/isolate_json.h"
#include "host/report/words.h"
#include "host/seconds.h"
#include "host/target/interrupts.h"
#include "host/target/orphans.h"
#include "host/time_limit.h"

namespace clew::cli {
namespace {

struct DebugCommand {
  HuntCommand hunt;
  bool deep = false;
  std::string json;
};

// Says which stage begins, beside the line of figures.
class Stages : public IsolateObserver {
 public:
  Stages() { print_details("clew: 2/3 simplifying: as few thread switches as possible\n"); }

  void status(const IsolateStatus& status) override {
    if (status.stage == IsolateStage::kIsolating) begin_isolating();
    line_.status(status);
  }
  // Short stages may come and go between two calls of status(): `isolated` says whether there was one.
  void end(bool isolated) {
    if (isolated) begin_isolating();
    line_.clear();
  }

 private:
  void begin_isolating() {
    if (std::exchange(isolating_, true)) return;
    line_.clear();
    print_details("clew: 3/3 isolating: what tells a failing run from a passing one\n");
  }

  IsolateStatusLine line_;
  bool isolating_ = false;
};

std::string limits_text(const HuntOptions& hunt) {
  std::string text;
  if (hunt.seconds > 0) text += fmt::format("{:g} s at most, ", hunt.seconds);
  if (hunt.schedules > 0) text += fmt::format("{} at most, ", counted(hunt.schedules, "schedule"));
  return fmt::format("{}seed {}", text, hunt.seed);
}

void print_found(const HuntResult& result) {
  const FoundFailure& first = result.failures.front();
  print_headline(Outcome::kFail,
                 fmt::format("found: {} (after {}, {:.1f} s; recording {})",
                             failure_line(first.failure), counted(first.first_schedule, "schedule"),
                             result.seconds, result.failing.value_or(0)));
}

// What the hunt has left of the time, and a little in any case. Without a limit of the user's own
// the isolation has as much again.
double seconds_left(const HuntCommand& command, double started) {
  const double limit = command.hunt.seconds;
  if (!command.time_is_given) return limit;
  return std::max(limit / 10, limit - (seconds_now() - started));
}

// The rest is for the explanation. Chosen, not measured.
constexpr double kIsolationsShare = 0.75;

IsolateOptions isolation_of(const HuntOptions& hunt, const HuntResult& found) {
  IsolateOptions options;
  options.failing = std::to_string(*found.failing);
  options.simplify = true;
  options.checkpoints = hunt.in_place;
  options.jobs = hunt.jobs;
  options.seed = hunt.seed;
  options.criteria = hunt.criteria;
  return options;
}

// Traces are large. If they do not fit, what was isolated is told all the same.
Result<Explanation> explain_in_memory(const Replay& failing, const Replay& passing,
                                      const ExplainOptions& options, RunObserver& observer) {
  try {
    return explain(failing, passing, options, observer);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kSystem, "out of memory");
  }
}

// Why, before where. What cannot be explained is no error: what was isolated stands for itself.
// `found`: the recording that the hunt has left.
std::optional<Explanation> explain_isolated(const IsolateResult& isolated, std::uint64_t found,
                                            double seconds, const std::string& target) {
  if (isolated.interrupted_by != 0) return std::nullopt;
  const std::uint64_t number = isolated.failing.value_or(found);
  const auto failing = prepare_replay(std::to_string(number));
  if (!failing) return std::nullopt;
  const auto& failure = failing->recording.meta.summary.failure;
  if (!isolated.passing && !(failure && shows_by_itself(failure->kind))) return std::nullopt;
  const auto passing = prepare_replay(std::to_string(isolated.passing.value_or(number)));
  if (!passing) return std::nullopt;
  ProgressLine progress("explaining");
  ExplainOptions options;
  if (seconds > 0) options.limits.seconds = std::min(options.limits.seconds, seconds);
  auto result = explain_in_memory(*failing, *passing, options, progress);
  progress.clear();
  if (!result)
    print_details(
        fmt::format("clew: not explained: {}\n",
                    TimeLimit::is_over() ? "the time was up" : printable(result.error().message)));
  else if (result->cause.pattern == CausePattern::kNone)
    print_details(fmt::format("clew: {}; what was isolated:\n", headline(*result)));
  if (!result || result->cause.pattern == CausePattern::kNone) {
    tell_if_stripped(failing->plan.program);
    return std::nullopt;
  }
  print_explained(*result, target);
  return *std::move(result);
}

// A race is evidence if it is one of the very accesses that the report names.
void print_evidence(const IsolateResult& result) {
  if (!result.pair || !result.failing || result.interrupted_by != 0) return;
  const EventInfo& first = result.pair->first;
  const EventInfo& second = result.pair->second;
  if (!abi::is_access(first.kind) || !abi::is_access(second.kind) || second.clock == 0) return;
  ProgressLine progress("looking for a race");
  const auto race =
      race_between(std::to_string(*result.failing), first.clock, second.clock, progress);
  progress.clear();
  if (!race) return;
  // Events have the names of locals and of the heap, too.
  const EventInfo& named = first.name.known() ? first : second;
  const std::string text =
      named.name.known() ? "data race on " + object_of(named) : printable(race->text);
  print_details(fmt::format(
      "These two accesses (clocks {} and {}) are not ordered by any lock or wait: {}.\n",
      with_commas(first.clock), with_commas(second.clock), text));
}

Result<int> run(DebugCommand& command) {
  const Orphans orphans;  // ended last
  CLEW_CHECK_OK(complete(command.hunt));
  command.hunt.hunt.keep_passing = false;  // the simplified schedule has closer ones
  CLEW_TRY(auto store, RecordingStore::open());

  tell_before_run(command.hunt.hunt.plan);
  const double started = seconds_now();
  const TimeLimit limit(
      command.hunt.time_is_given ? TimeLimit::with_keeping(command.hunt.hunt.seconds) : 0);
  // Between the stages, too, Ctrl-C must not lose what was found.
  const Interrupts interrupts;
  print_details(fmt::format("clew: 1/3 hunting: {}\n", limits_text(command.hunt.hunt)));
  HuntStatusLine hunting(HuntStatusLine::Found::kQuiet);
  const auto found = hunt(command.hunt.hunt, store, hunting);
  hunting.clear();
  CLEW_CHECK_OK(found);
  for (const std::string& note : found->notes) print_details("clew: note: " + note + "\n");

  Json json = {{"hunt", hunt_json(*found)}, {"explain", nullptr}, {"isolate", nullptr}};
  if (!found->failing || found->interrupted_by != 0 || interrupts.take() != 0) {
    print_headline(outcome_of(*found), headline(*found));
    print_details(hunt_text(*found, last_words(store, found->failing.value_or(0))));
  } else {
    print_found(*found);
    Stages stages;
    std::optional<Explanation> explanation;
    IsolateOptions isolation = isolation_of(command.hunt.hunt, *found);
    isolation.seconds =
        seconds_left(command.hunt, started) * (command.hunt.time_is_given ? kIsolationsShare : 1);
    const auto result = isolate(isolation, store, stages);
    stages.end(result && !result->switches.empty());
    if (result) {
      explanation = explain_isolated(*result, *found->failing, seconds_left(command.hunt, started),
                                     command.json);
      if (explanation) json["explain"] = explain_json(*explanation);
      print_isolated(*result, store, command.json);
      print_evidence(*result);
      json["isolate"] = isolate_json(*result);
    } else {
      // What was found stays found.
      report_error(result.error());
      print_details(hunt_text(*found, last_words(store, found->failing.value_or(0))));
    }
    if (command.deep && interrupts.take() == 0 && !(result && result->interrupted_by != 0))
      look_deeper(command.hunt, seconds_left(command.hunt, started) / 2, explanation, store,
                  interrupts, json);
  }
  CLEW_CHECK_OK(write_json(command.json, json));
  return exit_status_of(*found);
}

}  // namespace

void register_debug(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<DebugCommand>();
  CLI::App* command =
      app.add_subcommand("debug", "Hunt for a failure, simplify it, isolate its cause and show it");
  add_hunt_options(*command, options->hunt);
  command->add_flag(
      "--deep", options->deep,
      "Ask many runs as well: at which points noise makes it fail (clew pinpoint), which "
      "functions are called differently when it fails (clew rank), and whether they agree "
      "with the explanation; half of the time that is left for each");
  add_full(*command);
  add_json(*command, options->json);
  command->footer(
      "--time bounds all of it; without it the isolation has as long as the hunt. What is found is "
      "kept\nas recordings.\n\n"
      "Examples:\n"
      "  clew debug ./queue_test\n"
      "  clew debug --time 600 -- ./queue_test --items 3\n"
      "  clew debug --deep ./queue_test\n"
      "  clew debug --fails-if-output 'lost [0-9]+' ./queue_test\n\n"
      "Exit status: as for clew hunt: 0 nothing found, 1 a failure found (whether its cause was\n"
      "isolated or not), 122 no schedule could be judged, 124 usage error, 125 bad input or "
      "system\n"
      "error, 126 internal error, 128 + n interrupted by signal n with nothing found.");
  command->callback([options, &exit_status] {
    const auto status = run(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
