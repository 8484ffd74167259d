#include "host/explain/story_paths.h"

#include <algorithm>
#include <utility>

namespace clew {
namespace {

// Leading through the failing run is easier to follow than through the passing one.
constexpr std::uint32_t kCostFailing = 2;
constexpr std::uint32_t kCostPassing = 3;
constexpr std::uint32_t kCostCross = 1;
constexpr std::uint32_t kMostCost = 3;

// Places in a row that are told at each end of a path: a story has ten steps.
constexpr std::size_t kMostPlaces = 500;

}  // namespace

// Dijkstra 1959, with a list for each of the few costs that are ahead (Dial 1969).
StoryPaths::StoryPaths(TracedPair& pair, const DualSlice& slice, const PathNode& failure)
    : slice_(slice), start_{failure.side, slice.half[failure.side].nodes.index_of(failure.node)} {
  for (const WhichRun side : {kFailing, kPassing})
    reached_[side].resize(slice.half[side].nodes.size());
  if (start_.index == SliceNodes::kNone) return;
  std::array<std::vector<State>, kMostCost + 1> ahead;  // by the cost, modulo their number
  std::size_t waiting = 1;
  reached_[start_.side][start_.index].cost = 0;
  ahead[0].push_back(start_);
  for (std::uint32_t cost = 0; waiting > 0; ++cost) {
    // It grows only at other costs.
    auto& now = ahead[cost % ahead.size()];
    waiting -= now.size();
    // Of ways that cost the same, the one that comes first in the run.
    std::ranges::sort(now, {},
                      [](const State& state) { return std::pair(state.side, state.index); });
    for (const State& state : now) {
      const auto [side, index] = state;
      if (reached_[side][index].cost != cost) continue;
      const auto go = [&](WhichRun to_side, std::uint32_t to, std::uint32_t more) {
        Reached& reached = reached_[to_side][to];
        if (reached.cost <= cost + more) return;
        reached.cost = cost + more;
        reached.before = index;
        reached.crosses = to_side != side;
        ahead[(cost + more) % ahead.size()].push_back({to_side, to});
        ++waiting;
      };
      const NodeId node = slice.half[side].nodes[index];
      for (const IndexedEdge& edge : slice.half[side].edges_of(index))
        if (!is_unseen(slice.half[side].nodes[edge.to]))
          go(side, edge.to, side == kFailing ? kCostFailing : kCostPassing);
      if (is_unseen(node)) continue;
      const NodeId there = pair.comparison().counterpart(side, node);
      if (there == kNoNode) continue;
      const std::uint32_t other_index = slice.half[other(side)].nodes.index_of(there);
      if (other_index != SliceNodes::kNone) go(other(side), other_index, kCostCross);
    }
    now.clear();
  }
}

std::vector<PathNode> StoryPaths::to(const Root& root) const {
  std::vector<PathNode> path;
  State best{kFailing, SliceNodes::kNone};
  for (const WhichRun side : {kFailing, kPassing}) {
    const NodeId use = side == kFailing ? root.use_failing : root.use_passing;
    const std::uint32_t index = slice_.half[side].nodes.index_of(use);
    if (index == SliceNodes::kNone || reached_[side][index].cost == UINT32_MAX) continue;
    if (best.index == SliceNodes::kNone ||
        reached_[side][index].cost < reached_[best.side][best.index].cost)
      best = {side, index};
  }
  if (best.index == SliceNodes::kNone) return path;
  for (State at = best;;) {
    path.push_back({at.side, slice_.half[at.side].nodes[at.index]});
    const Reached& reached = reached_[at.side][at.index];
    if (reached.cost == 0) return path;
    at = {reached.crosses != 0 ? other(at.side) : at.side, reached.before};
  }
}

std::vector<PathNode> shortened(TracedPair& pair, std::vector<PathNode> path) {
  std::vector<std::size_t> begins;  // where the place is another one
  const CodePlace* last = nullptr;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const CodePlace& place = pair.place(path[i].side, instance_of(path[i].node));
    if (last != nullptr && place.line == last->line && place.file == last->file) continue;
    begins.push_back(i);
    last = &place;
  }
  if (begins.size() <= 2 * kMostPlaces) return path;
  path.erase(path.begin() + static_cast<std::ptrdiff_t>(begins[kMostPlaces]),
             path.begin() + static_cast<std::ptrdiff_t>(begins[begins.size() - kMostPlaces]));
  return path;
}

}  // namespace clew
