#include "host/explain/explain.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "host/explain/criterion.h"
#include "host/explain/dual_slice.h"
#include "host/explain/experiments.h"
#include "host/explain/line_graph.h"
#include "host/explain/naming.h"
#include "host/explain/question.h"
#include "host/explain/root_cause.h"
#include "host/explain/story.h"
#include "host/explain/traced_pair.h"
#include "host/explain/waiting.h"
#include "host/seconds.h"

namespace clew {
namespace {

constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostSteps = 10;

// What is drawn or listed at most. Chosen, not measured.
constexpr std::size_t kMostLines = 5'000;

void measure(TracedPair& pair, Naming& naming, NodeId failure, const DualSlice& pruned,
             const std::optional<Root>& root, SliceShown shown, Explanation& result) {
  Comparison& runs = pair.comparison();
  const DualSlice dual = dual_slice(runs, failure, SliceKind::kDual, kMostNodes);
  DualSlice dynamic;
  dynamic.half[kFailing] = dynamic_slice(runs, failure, kMostNodes);
  const LineGraph dynamic_lines(pair, dynamic);
  const LineGraph dual_lines(pair, dual);
  const LineGraph lines(pair, pruned);
  SliceSizes& sizes = result.slice;
  sizes.dynamic = dynamic_lines.size();
  sizes.dual = dual_lines.size();
  sizes.pruned = lines.size();
  const std::uint64_t failing = lines.count(kFailing);
  const std::uint64_t passing = lines.count(kPassing);
  sizes.breakdown = {passing, failing, failing + passing - lines.size()};
  sizes.functions = lines.functions();
  sizes.complete =
      dual.complete && pruned.complete && dynamic.half[kFailing].nodes.size() < kMostNodes;
  const std::size_t end = lines.line_of(kFailing, failure);
  if (root) {
    std::size_t cause = lines.line_of(kFailing, root->use_failing);
    if (cause == LineGraph::kNoLine) cause = lines.line_of(kPassing, root->use_passing);
    sizes.bfs = lines.distance(end, cause);
  }
  for (const WhichRun side : {kFailing, kPassing})
    for (const NodeId node : pruned.half[side].nodes) {
      if (is_unseen(node)) continue;
      const Difference difference = runs.difference(side, node);
      result.value_differences += difference == Difference::kValue && side == kFailing;
      result.flow_differences += difference == Difference::kFlow;
    }
  const LineGraph& wanted = shown == SliceShown::kDynamic ? dynamic_lines
                            : shown == SliceShown::kDual  ? dual_lines
                                                          : lines;
  result.lines = wanted.told(naming, wanted.line_of(kFailing, failure), kMostLines);
}

int worth_of(const Cause& cause) {
  switch (cause.pattern) {
    case CausePattern::kUseAfterFree:
      return 4;
    case CausePattern::kBetween:
      return 3;
    case CausePattern::kTooEarly:
    case CausePattern::kOverwritten:
      return 2;
    case CausePattern::kResult:
      return 1;
    default:
      return 0;
  }
}

void add_root(std::vector<Location>& root, const std::optional<CauseEvent>& event) {
  if (!event) return;
  for (const Location& at : {event->called_at, event->at}) {
    if (at.line == 0) continue;
    if (std::ranges::none_of(root, [&](const Location& known) {
          return known.file == at.file && known.line == at.line;
        }))
      root.push_back(at);
  }
}

std::vector<ToldStep> tell_cause(TracedPair& pair, Naming& naming, NodeId failure, SliceShown shown,
                                 Explanation& result) {
  std::vector<ToldStep> told;
  std::optional<Root> chosen;
  const DualSlice slice = dual_slice(pair.comparison(), failure, SliceKind::kPruned, kMostNodes);
  // Of several, the one that says most about what should not have happened; then the first.
  constexpr std::size_t kMostRoots = 40;
  int best = 0;
  for (const Root& root : std::views::take(find_roots(pair, naming, slice), kMostRoots)) {
    const auto path = story_path(pair, slice, failure, root);
    if (path.empty()) continue;
    Cause cause = classify(pair, naming, slice, root);
    const int worth = worth_of(cause) == 0 ? 0 : 2 * worth_of(cause) + root.last;
    if (worth <= best) continue;
    best = worth;
    result.cause = std::move(cause);
    told = tell(pair, naming, path);
    chosen = root;
  }
  measure(pair, naming, failure, slice, chosen, shown, result);
  fold(told, kMostSteps);
  const Cause& cause = result.cause;
  if (cause.pattern == CausePattern::kNone) return told;
  add_root(result.root, cause.earlier);
  add_root(result.root, cause.remote);
  add_root(result.root, cause.later);
  add_root(result.root, cause.use);
  if (cause.pattern == CausePattern::kTooEarly) add_root(result.root, cause.passing_source);
  if (cause.pattern == CausePattern::kOverwritten || cause.pattern == CausePattern::kUseAfterFree)
    add_root(result.root, cause.failing_source);
  return told;
}

// Of threads that wait for ever, first what the waits themselves show: a cycle is the whole story. Who
// waits for a signal has often read something too early.
void tell_waiting(TracedPair& pair, Naming& naming, SliceShown shown, Explanation& result) {
  Waiting waiting = find_waiting(pair, naming);
  if (waiting.cause.kind == CauseKind::kLostWakeup)
    for (const NodeId call : waiting.calls) {
      Explanation read;
      auto told = tell_cause(pair, naming, call, shown, read);
      if (told.empty() || read.cause.pattern == CausePattern::kResult) continue;
      result.slice = read.slice;
      result.lines = std::move(read.lines);
      result.root = read.root;
      waiting.cause.use = read.cause.use;
      waiting.cause.variable = read.cause.variable;
      waiting.cause.passing_value = read.cause.passing_value;
      waiting.cause.failing_source = read.cause.failing_source;
      waiting.cause.passing_source = read.cause.passing_source;
      for (ToldStep& one : told) waiting.story.push_back(std::move(one.step));
      std::ranges::sort(waiting.story, {}, &StoryStep::clock);
      break;
    }
  result.cause = std::move(waiting.cause);
  result.story = std::move(waiting.story);
  for (const WaitFact& fact : result.cause.waits) {
    add_root(result.root, fact.taken);
    add_root(result.root, fact.signal);
    add_root(result.root, fact.wait);
  }
}

}  // namespace

Result<Explanation> explain(const Replay& failing, const Replay& passing,
                            const ExplainOptions& options, RunObserver& observer) {
  Explanation result;
  const double started = seconds_now();
  result.failing = failing.recording.number;
  result.passing = passing.recording.number;
  if (!failing.recording.meta.summary.failure)
    return fail(ErrorCode::kBadInput, "the first recording has not failed",
                "clew explain FAILING PASSING");
  result.failure = *failing.recording.meta.summary.failure;
  CLEW_TRY(const auto pair, TracedPair::trace(failing, passing, observer));
  for (const WhichRun side : {kFailing, kPassing}) {
    if (pair->result(side).interrupted_by != 0) {
      result.interrupted_by = pair->result(side).interrupted_by;
      return result;
    }
    result.trace_bytes += pair->trace(side).bytes();
  }
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
  if (result.failure.kind == FailureKind::kDeadlock && !options.question) {
    tell_waiting(*pair, naming, options.shown, result);
  } else {
    std::vector<NodeId> points;
    if (options.question) {
      auto found = find_points(*pair, naming, *options.question);
      result.asked = std::move(found.asked);
      points = std::move(found.points);
    } else {
      points = failure_points(*pair, result.failure);
    }
    for (const NodeId point : points) {
      auto told = tell_cause(*pair, naming, point, options.shown, result);
      if (told.empty()) continue;
      // The tests judge the failure, not the line that was asked about.
      if (!options.question && check_runs_live(failing.recording) &&
          check_runs_live(passing.recording))
        result.tests = test_steps(*pair, failing, passing, options.limits, told);
      for (ToldStep& one : told) {
        // What makes no difference either way is no part of the chain.
        if (one.step.confirmed == Confirmed::kRefuted && &one != &told.front())
          one.step.main = false;
        result.story.push_back(std::move(one.step));
      }
      break;
    }
  }
  result.seconds = seconds_now() - started;
  return result;
}

}  // namespace clew
