#include "host/explain/dual_slice.h"

#include <algorithm>

#include "host/explain/value_reach.h"

namespace clew {
namespace {

class Slicer {
 public:
  Slicer(TwoRuns& runs, std::size_t most) : runs_(runs), most_(most) {}

  DualSlice slice(WhichRun of, NodeId failure) {
    add(of, failure);
    while (!todo_[kFailing].empty() || !todo_[kPassing].empty())
      for (const WhichRun side : {kFailing, kPassing})
        while (!todo_[side].empty()) {
          const std::uint32_t node = todo_[side].back();
          todo_[side].pop_back();
          visit(side, node);
        }
    DualSlice result;
    for (const WhichRun side : {kFailing, kPassing}) result.half[side] = halves_[side].finish();
    result.complete = complete_;
    return result;
  }

 private:
  // To the slice, and to what has to be looked at.
  std::uint32_t add(WhichRun side, NodeId node) {
    const std::uint32_t number = halves_[side].add(node).first;
    auto& visited = visited_[side];
    if (number >= visited.size()) visited.resize(number + 1u);
    if (visited[number]) return number;
    if (visits_[side] >= most_) {
      complete_ = false;
      return number;
    }
    visited[number] = true;
    ++visits_[side];
    todo_[side].push_back(number);
    return number;
  }

  void visit(WhichRun side, std::uint32_t number) {
    const NodeId node = halves_[side].table()[number];
    const Difference difference = runs_.difference(side, node);
    const NodeId there = runs_.counterpart(side, node);
    if (difference == Difference::kValue && there != kNoNode) add(other(side), there);
    const std::vector<NodeDependence> mine = runs_.dependences(side, node);
    std::vector<NodeDependence> theirs;
    if (there != kNoNode) theirs = runs_.dependences(other(side), there);
    halves_[side].begin_edges(number);
    for (const NodeDependence& dependence : mine) {
      const bool def_use = is_other_definition(side, theirs, dependence);
      if (runs_.difference(side, dependence.on) != Difference::kNone)
        halves_[side].edge(add(side, dependence.on), dependence.control, def_use);
      else if (def_use)
        halves_[side].edge(halves_[side].add(dependence.on).first, dependence.control, true);
    }
  }

  // The same use in the other run has another definition.
  bool is_other_definition(WhichRun side, const std::vector<NodeDependence>& theirs,
                           const NodeDependence& dependence) {
    for (const NodeDependence& corresponding : theirs)
      if (corresponding.use == dependence.use && corresponding.control == dependence.control)
        return runs_.counterpart(side, dependence.on) != corresponding.on;
    return false;
  }

  TwoRuns& runs_;
  std::size_t most_;
  bool complete_ = true;
  std::array<SliceBuilder, 2> halves_;
  std::array<std::vector<std::uint32_t>, 2> todo_;
  std::array<std::vector<bool>, 2> visited_;
  std::array<std::size_t, 2> visits_ = {};
};

// Over what the dual slice has: each difference in it has all that it depends on.
class Pruner {
 public:
  Pruner(TwoRuns& runs, const DualSlice& dual)
      : runs_(runs), dual_(dual), values_(runs, dual.half[kFailing]) {
    for (const WhichRun side : {kFailing, kPassing})
      visited_[side].resize(dual.half[side].nodes.size());
  }

  DualSlice slice(WhichRun of, NodeId failure) {
    if (const std::uint32_t index = dual_.half[of].nodes.index_of(failure);
        index != SliceNodes::kNone)
      add(of, index);
    while (!todo_[kFailing].empty() || !todo_[kPassing].empty())
      for (const WhichRun side : {kFailing, kPassing})
        while (!todo_[side].empty()) {
          const std::uint32_t index = todo_[side].back();
          todo_[side].pop_back();
          visit(side, index);
        }
    DualSlice result;
    for (const WhichRun side : {kFailing, kPassing}) result.half[side] = halves_[side].finish();
    result.complete = dual_.complete;
    return result;
  }

 private:
  std::uint32_t add(WhichRun side, std::uint32_t index) {
    if (!visited_[side][index]) {
      visited_[side][index] = true;
      todo_[side].push_back(index);
    }
    return number(side, index);
  }
  std::uint32_t number(WhichRun side, std::uint32_t index) {
    return halves_[side].add(dual_.half[side].nodes[index]).first;
  }

  void visit(WhichRun side, std::uint32_t index) {
    const NodeId node = dual_.half[side].nodes[index];
    const Difference difference = runs_.difference(side, node);
    if (difference == Difference::kValue) {
      const NodeId there = runs_.counterpart(side, node);
      const std::uint32_t other_index =
          there == kNoNode ? SliceNodes::kNone : dual_.half[other(side)].nodes.index_of(there);
      if (other_index != SliceNodes::kNone) add(other(side), other_index);
    }
    halves_[side].begin_edges(number(side, index));
    for (const IndexedEdge& edge : dual_.half[side].edges_of(index)) {
      if (follows(side, difference, index, edge))
        halves_[side].edge(add(side, edge.to), edge.control != 0, edge.def_use != 0);
      else if (edge.def_use != 0)
        halves_[side].edge(number(side, edge.to), edge.control != 0, true);
    }
  }

  bool follows(WhichRun side, Difference of, std::uint32_t index, const IndexedEdge& edge) {
    if (runs_.difference(side, dual_.half[side].nodes[edge.to]) == Difference::kNone) return false;
    const bool control = edge.control != 0;
    if (of == Difference::kValue) return !control;        // [2]
    if (of == Difference::kFlow && control) return true;  // [3]
    if (of != Difference::kFlow || side != kFailing) return of != Difference::kFlow;
    return values_.reaches_more(index, edge.to);  // [4]
  }

  TwoRuns& runs_;
  const DualSlice& dual_;
  ValueReach values_;
  std::array<SliceBuilder, 2> halves_;
  std::array<std::vector<std::uint32_t>, 2> todo_;
  std::array<std::vector<bool>, 2> visited_;
};

}  // namespace

DualSlice dual_slice(TwoRuns& runs, NodeId failure, std::size_t most_nodes, WhichRun side) {
  return Slicer(runs, most_nodes).slice(side, failure);
}

DualSlice pruned_slice(TwoRuns& runs, const DualSlice& dual, NodeId failure, WhichRun side) {
  return Pruner(runs, dual).slice(side, failure);
}

SliceHalf dynamic_slice(TwoRuns& runs, NodeId failure, std::size_t most_nodes, SliceEdges edges) {
  SliceBuilder result;
  std::vector<std::uint32_t> todo{result.add(failure).first};
  while (!todo.empty() && result.table().size() < most_nodes) {
    const std::uint32_t number = todo.back();
    todo.pop_back();
    if (edges == SliceEdges::kKept) result.begin_edges(number);
    for (const NodeDependence& dependence : runs.dependences(kFailing, result.table()[number])) {
      const auto [on, added] = result.add(dependence.on);
      if (edges == SliceEdges::kKept) result.edge(on, dependence.control, false);
      if (added) todo.push_back(on);
    }
  }
  return result.finish();
}

}  // namespace clew
