#include "host/explain/explain.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "host/explain/criterion.h"
#include "host/explain/dual_slice.h"
#include "host/explain/experiments.h"
#include "host/explain/naming.h"
#include "host/explain/root_cause.h"
#include "host/explain/story.h"
#include "host/explain/traced_pair.h"
#include "host/explain/waiting.h"
#include "host/seconds.h"

namespace clew {
namespace {

constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostSteps = 10;

// A slice in instances of source lines: instructions of one line in one call, one after the other.
class LineInstances {
 public:
  explicit LineInstances(TracedPair& pair) : pair_(pair) {}

  std::set<std::tuple<WhichRun, FrameIndex, std::string, std::uint32_t, std::uint32_t>> of(
      WhichRun side, const std::set<NodeId>& nodes) {
    std::set<std::tuple<WhichRun, FrameIndex, std::string, std::uint32_t, std::uint32_t>> found;
    const RunTrace& run = pair_.trace(side);
    std::map<FrameIndex, std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> last;
    for (const NodeId node : nodes) {
      if (is_unseen(node)) continue;
      const Instance user = pair_.user_instance(side, instance_of(node));
      if (!user.valid()) continue;
      const std::uint64_t address = run.instruction(user).address;
      const CodePlace& place = pair_.place_of_code(address);
      if (place.line == 0) continue;
      const FrameIndex frame = run.steps()[user.step].frame;
      auto& [line, at, instance] = last[frame];
      if (line != place.line || address <= at) ++instance;
      line = place.line;
      at = address;
      found.emplace(side, frame, place.file, place.line, instance);
    }
    return found;
  }

 private:
  TracedPair& pair_;
};

void measure(TracedPair& pair, NodeId failure, const DualSlice& pruned, Explanation& result) {
  Comparison& runs = pair.comparison();
  LineInstances lines(pair);
  const DualSlice dual = dual_slice(runs, failure, SliceKind::kDual, kMostNodes);
  const SliceHalf dynamic = dynamic_slice(runs, failure, kMostNodes);
  SliceSizes& sizes = result.slice;
  sizes.dynamic = lines.of(kFailing, dynamic.nodes).size();
  sizes.dual = lines.of(kFailing, dual.half[kFailing].nodes).size() +
               lines.of(kPassing, dual.half[kPassing].nodes).size();
  const auto failing = lines.of(kFailing, pruned.half[kFailing].nodes);
  const auto passing = lines.of(kPassing, pruned.half[kPassing].nodes);
  std::set<NodeId> values;
  std::set<std::string> functions;
  for (const WhichRun side : {kFailing, kPassing})
    for (const NodeId node : pruned.half[side].nodes) {
      if (is_unseen(node)) continue;
      const Difference difference = runs.difference(side, node);
      if (difference == Difference::kValue && side == kFailing) values.insert(node);
      result.value_differences += difference == Difference::kValue && side == kFailing;
      result.flow_differences += difference == Difference::kFlow;
      functions.insert(pair.place(side, instance_of(node)).function);
    }
  const auto both = lines.of(kFailing, values);
  sizes.breakdown = {passing.size(), failing.size(), both.size()};
  sizes.pruned = failing.size() + passing.size() - std::min(both.size(), passing.size());
  sizes.functions = functions.size();
  sizes.complete = dual.complete && pruned.complete && dynamic.nodes.size() < kMostNodes;
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

std::vector<ToldStep> tell_cause(TracedPair& pair, Naming& naming, NodeId failure,
                                 Explanation& result) {
  std::vector<ToldStep> told;
  const DualSlice slice = dual_slice(pair.comparison(), failure, SliceKind::kPruned, kMostNodes);
  measure(pair, failure, slice, result);
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
  }
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
void tell_waiting(TracedPair& pair, Naming& naming, Explanation& result) {
  Waiting waiting = find_waiting(pair, naming);
  if (waiting.cause.kind == CauseKind::kLostWakeup)
    for (const NodeId call : waiting.calls) {
      Explanation read;
      auto told = tell_cause(pair, naming, call, read);
      if (told.empty() || read.cause.pattern == CausePattern::kResult) continue;
      result.slice = read.slice;
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

Result<Explanation> explain(const Replay& failing, const Replay& passing, RunObserver& observer) {
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
  if (result.failure.kind == FailureKind::kDeadlock) {
    tell_waiting(*pair, naming, result);
  } else {
    for (const NodeId point : failure_points(*pair, result.failure)) {
      auto told = tell_cause(*pair, naming, point, result);
      if (told.empty()) continue;
      if (check_runs_live(failing.recording) && check_runs_live(passing.recording))
        result.tests = test_steps(*pair, failing, passing, {}, told);
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
