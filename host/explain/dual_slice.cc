#include "host/explain/dual_slice.h"

#include <algorithm>
#include <map>

namespace clew {
namespace {

class Slicer {
 public:
  Slicer(TwoRuns& runs, SliceKind kind, std::size_t most) : runs_(runs), kind_(kind), most_(most) {}

  DualSlice slice(WhichRun of, NodeId failure) {
    add(of, failure);
    while (!todo_[kFailing].empty() || !todo_[kPassing].empty())
      for (const WhichRun side : {kFailing, kPassing})
        while (!todo_[side].empty()) {
          const NodeId node = todo_[side].back();
          todo_[side].pop_back();
          visit(side, node);
        }
    return std::move(result_);
  }

 private:
  // To the slice, and to what has to be looked at.
  void add(WhichRun side, NodeId node) {
    result_.half[side].nodes.insert(node);
    if (result_.half[side].nodes.size() > most_) {
      result_.complete = false;
      return;
    }
    if (visited_[side].insert(node).second) todo_[side].push_back(node);
  }

  void visit(WhichRun side, NodeId node) {
    const Difference difference = runs_.difference(side, node);
    const NodeId there = runs_.counterpart(side, node);
    if (difference == Difference::kValue && there != kNoNode) add(other(side), there);
    for (const NodeDependence& dependence : runs_.dependences(side, node)) {
      if (follows(side, difference, node, dependence)) {
        edge(side, node, dependence, false);
        add(side, dependence.on);
      } else if (there != kNoNode && is_other_definition(side, there, dependence)) {
        edge(side, node, dependence, true);
        result_.half[side].nodes.insert(dependence.on);
      }
    }
  }

  bool follows(WhichRun side, Difference of, NodeId node, const NodeDependence& dependence) {
    if (runs_.difference(side, dependence.on) == Difference::kNone) return false;
    if (kind_ == SliceKind::kDual) return true;
    if (of == Difference::kValue) return !dependence.control;        // [2]
    if (of == Difference::kFlow && dependence.control) return true;  // [3]
    if (of != Difference::kFlow || side != kFailing) return of != Difference::kFlow;
    return reaches_more(node, dependence.on);  // [4]
  }

  // VAL({on}) - VAL(CD(node)) is not empty.
  bool reaches_more(NodeId node, NodeId on) {
    const std::set<NodeId>& mine = values(on);
    NodeId control = kNoNode;
    for (const NodeDependence& dependence : runs_.dependences(kFailing, node))
      if (dependence.control) control = dependence.on;
    if (control == kNoNode) return !mine.empty();
    const std::set<NodeId>& known = values(control);
    return !std::ranges::includes(known, mine);
  }

  // The value differences that can be reached from the node in the failing run.
  const std::set<NodeId>& values(NodeId node) {
    const auto [known, added] = values_.try_emplace(node);
    if (!added) return known->second;
    std::set<NodeId> seen{node};
    std::vector<NodeId> todo{node};
    std::set<NodeId> found;
    while (!todo.empty() && seen.size() < kMostReached) {
      const NodeId at = todo.back();
      todo.pop_back();
      const Difference difference = runs_.difference(kFailing, at);
      if (difference == Difference::kNone) continue;
      if (difference == Difference::kValue) found.insert(at);
      for (const NodeDependence& dependence : runs_.dependences(kFailing, at))
        if (seen.insert(dependence.on).second) todo.push_back(dependence.on);
    }
    return values_[node] = std::move(found);
  }

  // The same use in the other run has another definition.
  bool is_other_definition(WhichRun side, NodeId there, const NodeDependence& dependence) {
    for (const NodeDependence& corresponding : runs_.dependences(other(side), there))
      if (corresponding.use == dependence.use && corresponding.control == dependence.control)
        return runs_.counterpart(side, dependence.on) != corresponding.on;
    return false;
  }

  void edge(WhichRun side, NodeId from, const NodeDependence& dependence, bool def_use) {
    bool differs = def_use;
    if (!def_use) {
      const NodeId there = runs_.counterpart(side, from);
      differs = there != kNoNode && is_other_definition(side, there, dependence);
    }
    result_.half[side].edges.insert({from, dependence.on, dependence.control, differs});
  }

  static constexpr std::size_t kMostReached = 20'000;

  TwoRuns& runs_;
  SliceKind kind_;
  std::size_t most_;
  DualSlice result_;
  std::array<std::vector<NodeId>, 2> todo_;
  std::array<std::set<NodeId>, 2> visited_;
  std::map<NodeId, std::set<NodeId>> values_;
};

}  // namespace

DualSlice dual_slice(TwoRuns& runs, NodeId failure, SliceKind kind, std::size_t most_nodes,
                     WhichRun side) {
  return Slicer(runs, kind, most_nodes).slice(side, failure);
}

SliceHalf dynamic_slice(TwoRuns& runs, NodeId failure, std::size_t most_nodes) {
  SliceHalf result;
  std::vector<NodeId> todo{failure};
  result.nodes.insert(failure);
  while (!todo.empty() && result.nodes.size() < most_nodes) {
    const NodeId node = todo.back();
    todo.pop_back();
    for (const NodeDependence& dependence : runs.dependences(kFailing, node)) {
      result.edges.insert({node, dependence.on, dependence.control, false});
      if (result.nodes.insert(dependence.on).second) todo.push_back(dependence.on);
    }
  }
  return result;
}

}  // namespace clew
