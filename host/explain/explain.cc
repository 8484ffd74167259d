#include "host/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/explain/criterion.h"
#include "host/explain/found.h"
#include "host/explain/naming.h"
#include "host/explain/output_point.h"
#include "host/explain/proof.h"
#include "host/explain/question.h"
#include "host/explain/told_cause.h"
#include "host/explain/traced_pair.h"
#include "host/seconds.h"

namespace clew {
namespace {

bool is_of_output(FailureKind kind) {
  return kind == FailureKind::kOutput || kind == FailureKind::kJudge;
}

// The failure that is to be explained, if the two belong together.
Result<Failure> failure_of(const Recording& failing, const Recording& passing) {
  const Meta& meta = failing.meta;
  if (!meta.summary.failure && !meta.judged)
    return fail(ErrorCode::kBadInput, fmt::format("recording {} has not failed", failing.number),
                "clew explain FAILING PASSING");
  const bool alone = failing.number == passing.number && meta.summary.failure &&
                     shows_by_itself(meta.summary.failure->kind);
  if (!alone && (passing.meta.summary.failure || passing.meta.judged))
    return fail(ErrorCode::kBadInput, fmt::format("recording {} has failed, too", passing.number),
                "clew explain FAILING PASSING");
  if (meta.program != passing.meta.program || meta.identity != passing.meta.identity)
    return fail(
        ErrorCode::kBadInput,
        fmt::format("recordings {} and {} are of two programs", failing.number, passing.number),
        "clew isolate finds a passing run of the same program");
  if (meta.arguments != passing.meta.arguments)
    return fail(ErrorCode::kBadInput,
                fmt::format("recordings {} and {} are of runs with other arguments", failing.number,
                            passing.number),
                "clew isolate finds a passing run of the same program with the same arguments");
  if (meta.summary.failure) return *meta.summary.failure;
  return Failure{meta.judged->kind, meta.judged->detail, "", std::nullopt};
}

void keep(ToldCause& told, Explanation& result) {
  add_roots(result.root, result.cause);
  for (const Cause& also : result.also) add_roots(result.root, also);
  for (ToldStep& one : told.steps) {
    // What makes no difference either way is no part of the chain.
    if (one.step.confirmed == Confirmed::kRefuted && &one != &told.steps.front())
      one.step.main = false;
    result.story.push_back(std::move(one.step));
  }
}

}  // namespace

Result<Explanation> explain(const Replay& failing, const Replay& passing,
                            const ExplainOptions& options, RunObserver& observer) {
  Explanation result;
  const double started = seconds_now();
  result.failing = failing.recording.number;
  result.passing = passing.recording.number;
  CLEW_TRY(result.failure, failure_of(failing.recording, passing.recording));
  if (is_finding(result.failure.kind) && !options.question) {
    CLEW_CHECK_OK(tell_finding(failing, observer, result));
    result.seconds = seconds_now() - started;
    return result;
  }
  CLEW_TRY(const auto pair, TracedPair::trace(failing, passing, observer));
  for (const WhichRun side : {kFailing, kPassing}) {
    if (pair->result(side).interrupted_by != 0) {
      result.interrupted_by = pair->result(side).interrupted_by;
      return result;
    }
    result.trace_bytes += pair->trace(side).bytes();
    result.instructions += pair->trace(side).instructions();
  }
  if (const std::uint64_t from = pair->trace(kFailing).begins_at(); from != 0)
    result.doubts.push_back(
        fmt::format("The runs are too long to be traced as a whole: \"the start\" is clock {} "
                    "here, up to which "
                    "both are the same.",
                    from));
  for (std::size_t i = 0; i < pair->trace(kFailing).thread_count(); ++i) {
    const std::string& id = pair->run(kFailing).threads()[i];
    const auto& there = pair->run(kPassing).threads();
    const auto same = static_cast<std::size_t>(std::ranges::find(there, id) - there.begin());
    const auto percent = [](const Alignment::Share& share) {
      return share.all == 0
                 ? 0
                 : 100.0 * static_cast<double>(share.aligned) / static_cast<double>(share.all);
    };
    ThreadAlignment one{id, percent(pair->alignment().share(kFailing, i)), 0};
    if (same < pair->trace(kPassing).thread_count())
      one.passing = percent(pair->alignment().share(kPassing, static_cast<std::uint16_t>(same)));
    result.alignment.push_back(one);
  }
  Naming naming(*pair);
  bool cut = false;  // a slice was
  if (result.failure.kind == FailureKind::kDeadlock && !options.question) {
    tell_waiting(*pair, naming, options.shown, result);
    if (check_runs_live(failing.recording)) {
      if (result.cause.cycle)
        test_locks(*pair, failing, passing, options.limits, result);
      else if (failing.recording.number != passing.recording.number)
        test_waiting(*pair, naming, failing, passing, options.limits, result);
    }
  } else {
    std::vector<PathNode> points;
    if (options.question) {
      auto found = find_points(*pair, naming, *options.question);
      result.asked = std::move(found.asked);
      for (const NodeId point : found.points) points.push_back({kFailing, point});
    } else {
      if (is_of_output(result.failure.kind)) points = output_points(*pair, failing, passing);
      for (const NodeId point : failure_points(*pair, result.failure))
        points.push_back({kFailing, point});
    }
    // The tests judge the failure, not the line that was asked about.
    const bool testable = !options.question && check_runs_live(failing.recording) &&
                          check_runs_live(passing.recording);
    std::vector<NodeId> led;
    for (const PathNode& point : points) {
      ToldCause told = tell_cause(*pair, naming, point, options.shown, result);
      cut |= !result.slice.complete;
      if (told.steps.empty()) {
        led.insert(led.end(), told.led.begin(), told.led.end());
        continue;
      }
      result.cause = told.cause;
      result.leads_to = told.leads_to;
      if (testable) experiment(*pair, naming, failing, passing, options.limits, told, result);
      keep(told, result);
      break;
    }
    std::ranges::sort(led);
    if (result.story.empty() && testable && !points.empty()) {
      ToldCause told = find_by_outcome(*pair, naming, failing, passing, options.limits,
                                       points.front(), led, result);
      if (!told.steps.empty()) {
        result.cause = told.cause;
        keep(told, result);
        result.doubts.emplace_back("How it leads from there to the failure was not seen.");
      }
    }
    if (result.story.empty() && testable && !points.empty()) {
      ToldCause told =
          find_by_order(*pair, naming, failing, passing, options.limits, points.front(), result);
      if (!told.steps.empty()) {
        result.cause = told.cause;
        keep(told, result);
        result.doubts.emplace_back(
            "How the first step leads to the failure was not seen; that its order decides was "
            "tested.");
      }
    }
  }
  if (cut || !result.slice.complete)
    result.doubts.push_back(
        fmt::format("The slice was ended after {} instructions: what lies further back was not "
                    "reached.",
                    kMostNodes));
  result.seconds = seconds_now() - started;
  return result;
}

}  // namespace clew
