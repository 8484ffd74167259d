#include "host/noise/points.h"

#include <unordered_map>

#include "clew_abi/guides.h"
#include "host/trace/trace_order.h"

namespace clew {
namespace {

// Finding races takes time that grows with the square of the steps in the worst case. Chosen, not
// measured.
constexpr std::size_t kMostStepsForRaces = 20'000;

bool is_atomic_or_call(abi::StepKind kind) {
  return !abi::is_access(kind) || kind == abi::StepKind::kUpdate;
}

}  // namespace

Subset points_after(std::span<const NoisePoint> points, std::uint64_t sides) {
  Subset after(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    if (abi::noise_comes_after(sides, points[i].place)) after.add(i);
  return after;
}

Neighbours::Neighbours(std::size_t points, const std::set<PointEdge>& seen)
    : next(points), previous(points) {
  std::vector<std::uint32_t> leaving(points), coming(points);
  for (const auto& [from, to] : seen) ++leaving[from], ++coming[to];
  for (const auto& [from, to] : seen)
    if (from != to && leaving[from] == 1 && coming[to] == 1) next[from] = to, previous[to] = from;
}

void PointFinder::learn(const Trace& trace, const std::vector<std::uint32_t>& shared_points) {
  const std::size_t before = met_.size() + shared_.size();
  shared_.insert(shared_points.begin(), shared_points.end());
  std::unordered_map<abi::ThreadKey, abi::Place> last;
  for (const TraceStep& step : trace.steps) {
    if (step.place == 0) continue;  // the start of a thread, or the end of the program
    const auto [entry, added] = met_.try_emplace(step.place, Met{step.kind, false, step.thread});
    if (added) order_.push_back(step.place);
    const auto [previous, first] = last.try_emplace(step.thread, step.place);
    if (!first) next_[previous->second].insert(step.place);
    previous->second = step.place;
  }
  if (trace.steps.size() <= kMostStepsForRaces)
    TraceOrder(trace.steps).each_race(0, [&](std::size_t i, std::uint32_t) {
      if (abi::is_access(trace.steps[i].kind)) met_[trace.steps[i].place].races = true;
    });
  learn_locks(trace);
  without_news_ = met_.size() + shared_.size() == before ? without_news_ + 1 : 0;
}

void PointFinder::learn_locks(const Trace& trace) {
  std::unordered_map<abi::ThreadKey, std::set<std::uint64_t>> held;
  for (const TraceStep& step : trace.steps) {
    auto& mine = held[step.thread];
    if (step.kind == abi::StepKind::kUnlock) mine.erase(step.object);
    if (step.kind != abi::StepKind::kLock) continue;
    for (const std::uint64_t other : mine)
      if (other != step.object) nested_[{other, step.object}].emplace(step.thread, step.place);
    mine.insert(step.object);
  }
}

std::set<abi::Place> PointFinder::inversions() const {
  std::set<abi::Place> places;
  for (const auto& [locks, who] : nested_) {
    const auto reverse = nested_.find({locks.second, locks.first});
    if (reverse == nested_.end()) continue;
    for (const auto& [thread, place] : who)
      for (const auto& [other, there] : reverse->second)
        if (other != thread) places.insert(place);
  }
  return places;
}

void PointFinder::remember(const Trace& trace) {
  // Chosen, not measured: enough to see a few callers of each place, also if only one thread has them.
  constexpr std::size_t kMostOfThread = 4;
  constexpr std::size_t kMostOfPlace = 16;
  constexpr std::size_t kMost = 1'000;
  std::size_t all = 0;
  std::map<std::pair<abi::Place, abi::ThreadKey>, std::size_t> of_thread;
  for (const TraceStep& step : trace.steps) {
    if (step.place == 0 || all == kMost) continue;
    auto& clocks = clocks_[step.place];
    if (clocks.size() == kMostOfPlace || ++of_thread[{step.place, step.thread}] > kMostOfThread)
      continue;
    clocks.push_back(step.clock);
    ++all;
  }
}

bool PointFinder::is_point(abi::Place place, abi::StepKind kind) const {
  return is_atomic_or_call(kind) || (place & 1) != 0 || shared_.contains(place >> 1);
}

std::vector<NoisePoint> PointFinder::points() {
  std::map<abi::Place, std::uint32_t> order;
  for (std::uint32_t i = 0; i < order_.size(); ++i) order[order_[i]] = i;
  const std::set<abi::Place> inverted = inversions();
  std::vector<NoisePoint> result;
  for (const auto& [place, met] : met_) {
    if (!is_point(place, met.kind)) continue;
    position_[place] = static_cast<std::uint32_t>(result.size());
    NoisePoint point;
    point.met = order[place];
    point.place = place;
    point.kind = met.kind;
    point.races = met.races;
    point.inverts = inverted.contains(place);
    point.thread = met.thread;
    result.push_back(std::move(point));
  }
  return result;
}

std::set<PointEdge> PointFinder::edges() const {
  std::set<PointEdge> result;
  for (const auto& [place, position] : position_) {
    // Steps that are no points are passed through.
    std::set<abi::Place> seen;
    std::vector<abi::Place> todo{place};
    while (!todo.empty()) {
      const auto following = next_.find(todo.back());
      todo.pop_back();
      if (following == next_.end()) continue;
      for (const abi::Place next : following->second) {
        if (!seen.insert(next).second) continue;
        const auto point = position_.find(next);
        if (point == position_.end()) {
          todo.push_back(next);
        } else {
          result.emplace(position, point->second);
        }
      }
    }
  }
  return result;
}

}  // namespace clew
