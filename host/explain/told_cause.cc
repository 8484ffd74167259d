#include "host/explain/told_cause.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "host/explain/dual_slice.h"
#include "host/explain/line_graph.h"
#include "host/explain/wrong_turn.h"

namespace clew {
namespace {

constexpr std::size_t kMostSteps = 10;

// What is drawn or listed at most. Chosen, not measured.
constexpr std::size_t kMostLines = 5'000;

void measure_dynamic(TracedPair& pair, Naming& naming, const PathNode& failure, SliceShown shown,
                     Explanation& result) {
  if (failure.side != kFailing) return;
  DualSlice dynamic;
  const SliceEdges edges = shown == SliceShown::kDynamic ? SliceEdges::kKept : SliceEdges::kLeftOut;
  dynamic.half[kFailing] = dynamic_slice(pair.comparison(), failure.node, kMostNodes, edges);
  const LineGraph lines(pair, dynamic);
  result.slice.dynamic = lines.size();
  result.slice.complete &= dynamic.half[kFailing].nodes.size() < kMostNodes;
  if (shown == SliceShown::kDynamic)
    result.lines = lines.told(naming, lines.line_of(failure.side, failure.node), kMostLines);
}

void measure_dual(TracedPair& pair, Naming& naming, const PathNode& failure, const DualSlice& dual,
                  SliceShown shown, Explanation& result) {
  const LineGraph lines(pair, dual);
  result.slice.dual = lines.size();
  result.slice.complete &= dual.complete;
  if (shown == SliceShown::kDual)
    result.lines = lines.told(naming, lines.line_of(failure.side, failure.node), kMostLines);
}

void measure_pruned(TracedPair& pair, Naming& naming, const PathNode& failure,
                    const DualSlice& pruned, const std::optional<Root>& root, SliceShown shown,
                    Explanation& result) {
  Comparison& runs = pair.comparison();
  const LineGraph lines(pair, pruned);
  SliceSizes& sizes = result.slice;
  sizes.pruned = lines.size();
  std::set<std::size_t> different;  // lines that make another value
  for (const WhichRun side : {kFailing, kPassing})
    for (const NodeId node : pruned.half[side].nodes) {
      if (is_unseen(node)) continue;
      const Difference difference = runs.difference(side, node);
      if (difference == Difference::kValue && side == kFailing) {
        different.insert(lines.line_of(kFailing, node));
        ++result.value_differences;
      }
      result.flow_differences += difference == Difference::kFlow;
    }
  different.erase(LineGraph::kNoLine);
  sizes.breakdown = {lines.count(kPassing), lines.count(kFailing), different.size()};
  sizes.functions = lines.functions();
  const std::size_t end = lines.line_of(failure.side, failure.node);
  if (root) {
    std::size_t cause = lines.line_of(kFailing, root->use_failing);
    if (cause == LineGraph::kNoLine) cause = lines.line_of(kPassing, root->use_passing);
    sizes.bfs = lines.distance(end, cause);
  }
  if (shown == SliceShown::kPruned) result.lines = lines.told(naming, end, kMostLines);
}

// Who comes to the end of an object, or to a use behind it, only by a branch that goes another way in the passing run: if that depends on two
// accesses between which another has come, those should have been one, and the use is what follows. The number of that cause among the others.
std::optional<std::size_t> split_before(TracedPair& pair, const ToldCause& told) {
  if (told.cause.pattern != CausePattern::kUseAfterFree || !told.root.freed.valid()) return {};
  for (std::size_t i = 0; i < told.others.size(); ++i) {
    const auto& [cause, root] = told.others[i];
    if (cause.pattern != CausePattern::kBetween || cause.freed) continue;
    for (const Instance at : {instance_of(told.root.use_failing), told.root.freed})
      if (!pair.alignment().counterpart(kFailing, at).valid() &&
          is_turned_by(pair, at, instance_of(root.use_failing)))
        return i;
  }
  return {};
}

}  // namespace

int worth_of(const Cause& cause) {
  if (cause.timed_out) return 3;
  // What has ended is used: nothing that comes before explains more.
  if (cause.cleared || cause.ending) return 4;
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

void add_roots(std::vector<Location>& root, const Cause& cause) {
  if (cause.pattern == CausePattern::kNone) return;
  add_root(root, cause.timed_out);
  add_root(root, cause.let_go);
  add_root(root, cause.beside);
  add_root(root, cause.beside_read);
  add_root(root, cause.slept);
  add_root(root, cause.got);
  add_root(root, cause.earlier);
  add_root(root, cause.released);
  add_root(root, cause.remote);
  add_root(root, cause.later);
  add_root(root, cause.use);
  if (cause.pattern == CausePattern::kLockOrder)
    for (const WaitFact& fact : cause.waits) add_root(root, fact.wait);
  if (cause.outcome) {
    add_root(root, cause.outcome->looked);
    add_root(root, cause.outcome->change);
  }
  if (cause.pattern == CausePattern::kTooEarly) add_root(root, cause.passing_source);
  if (cause.pattern == CausePattern::kOverwritten || cause.pattern == CausePattern::kUseAfterFree)
    add_root(root, cause.failing_source);
  if (cause.check) {
    add_root(root, cause.check->read);
    add_root(root, cause.check->write);
  }
}

ToldCause tell_cause(TracedPair& pair, Naming& naming, const PathNode& failure, SliceShown shown,
                     Explanation& result) {
  ToldCause told;
  std::optional<Root> chosen;
  result.slice = {};
  DualSlice slice;
  {
    const DualSlice dual = dual_slice(pair.comparison(), failure.node, kMostNodes, failure.side);
    slice = pruned_slice(pair.comparison(), dual, failure.node, failure.side);
    measure_dual(pair, naming, failure, dual, shown, result);
  }
  const StoryPaths paths(pair, slice, failure);
  // Of several, the one that says most about what should not have happened; then the first.
  constexpr std::size_t kMostRoots = 40;
  int best = 0;
  std::vector<std::pair<Cause, Root>> others;
  auto roots = find_roots(pair, naming, slice, failure.side == kFailing ? failure.node : kNoNode);
  for (Root& root : std::views::take(roots, kMostRoots)) {
    auto path = paths.to(root);
    if (path.empty() && root.use_passing == kNoNode) path = {{kFailing, root.use_failing}, failure};
    if (path.empty()) continue;
    Cause cause = classify(pair, naming, slice, root);
    const int worth = worth_of(cause) == 0 ? 0 : 2 * worth_of(cause) + root.last;
    if (worth <= best) {
      others.emplace_back(std::move(cause), root);
      continue;
    }
    if (chosen) others.emplace_back(std::move(told.cause), told.root);
    best = worth;
    told = {
        std::move(cause), root, {}, tell(pair, naming, shortened(pair, std::move(path))), {}, {}};
    chosen = root;
  }
  told.others = std::move(others);
  if (const auto split = split_before(pair, told)) {
    auto [cause, root] = told.others[*split];
    told.leads_to = std::exchange(told.cause, std::move(cause));
    chosen = told.root = root;
    told.steps = tell(pair, naming, shortened(pair, paths.to(root)));
    told.others.erase(told.others.begin() + static_cast<std::ptrdiff_t>(*split));
  }
  for (const NodeId node : slice.half[kFailing].nodes) told.led.push_back(node);
  std::ranges::sort(told.led);
  measure_pruned(pair, naming, failure, slice, chosen, shown, result);
  measure_dynamic(pair, naming, failure, shown, result);
  fold(told.steps, kMostSteps);
  return told;
}

}  // namespace clew
