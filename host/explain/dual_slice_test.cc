#include "host/explain/dual_slice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace clew {
namespace {

enum class SliceKind : std::uint8_t { kDual, kPruned };

// Two runs given as tables. A node that both have is its own counterpart.
class Tables final : public TwoRuns {
 public:
  Difference difference(WhichRun side, NodeId node) override {
    if (!runs_[other(side)].contains(node)) return Difference::kFlow;
    return values_.contains(node) ? Difference::kValue : Difference::kNone;
  }
  std::vector<NodeDependence> dependences(WhichRun side, NodeId node) override {
    return runs_[side][node];
  }
  NodeId counterpart(WhichRun side, NodeId node) override {
    return runs_[other(side)].contains(node) ? node : kNoNode;
  }

  void add(WhichRun side, NodeId node) { runs_[side][node]; }
  void data(WhichRun side, NodeId node, NodeId on, std::uint64_t use) {
    add(side, on);
    runs_[side][node].push_back({on, use, false});
  }
  void control(WhichRun side, NodeId node, NodeId on) {
    add(side, on);
    runs_[side][node].push_back({on, 0, true});
  }
  void value(NodeId node) { values_.insert(node); }
  [[nodiscard]] const std::map<NodeId, std::vector<NodeDependence>>& run(WhichRun side) const {
    return runs_[side];
  }

 private:
  std::array<std::map<NodeId, std::vector<NodeDependence>>, 2> runs_;
  std::set<NodeId> values_;
};

DualSlice slice_of(Tables& runs, NodeId failure, SliceKind kind) {
  DualSlice dual = dual_slice(runs, failure, 1000);
  return kind == SliceKind::kDual ? dual : pruned_slice(runs, dual, failure);
}
std::set<NodeId> nodes_of(const DualSlice& slice, WhichRun side) {
  return {slice.half[side].nodes.begin(), slice.half[side].nodes.end()};
}
std::set<SliceEdge> edges_of(const DualSlice& slice, WhichRun side) {
  std::set<SliceEdge> edges;
  slice.half[side].for_each_edge([&](const SliceEdge& edge) { edges.insert(edge); });
  return edges;
}

// Instances of figure 4: the line, and which of its instances.
constexpr NodeId at(NodeId line, NodeId instance = 1) { return line * 10 + instance; }

Tables figure_4() {
  Tables t;
  for (const WhichRun side : {kFailing, kPassing}) {
    t.add(side, at(1));
    t.add(side, at(22));
    t.data(side, at(40), at(33), 1);
    t.data(side, at(34, 2), at(33), 1);
    t.data(side, at(34, 2), at(38), 2);
    t.control(side, at(34, 2), at(34));
    t.data(side, at(36), at(35), 1);
  }
  t.data(kFailing, at(33), at(1), 1);
  t.data(kPassing, at(33), at(22), 1);
  t.data(kFailing, at(44), at(41), 1);
  t.control(kFailing, at(41), at(40));
  t.data(kFailing, at(41), at(36, 2), 1);
  t.data(kFailing, at(41), at(35), 2);
  t.control(kFailing, at(36, 2), at(34, 2));
  t.data(kFailing, at(36, 2), at(36), 1);
  t.data(kFailing, at(36, 2), at(35, 2), 2);
  t.control(kFailing, at(35, 2), at(34, 2));
  t.data(kFailing, at(35, 2), at(38), 1);
  t.data(kPassing, at(44), at(43), 1);
  t.control(kPassing, at(43), at(40));
  t.data(kPassing, at(43), at(36), 1);
  t.data(kPassing, at(43), at(35), 2);
  for (const NodeId node : {at(44), at(40), at(34, 2), at(33)}) t.value(node);
  return t;
}

TEST(DualSlice, IsThatOfFigure5) {
  Tables runs = figure_4();
  const DualSlice slice = slice_of(runs, at(44), SliceKind::kDual);
  EXPECT_EQ(nodes_of(slice, kFailing),
            (std::set{at(44), at(41), at(40), at(36, 2), at(35, 2), at(34, 2), at(33), at(1)}));
  EXPECT_EQ(nodes_of(slice, kPassing),
            (std::set{at(44), at(43), at(40), at(34, 2), at(33), at(22)}));
}

TEST(DualSlice, PruningLeavesOutHowTheValueOfAFlowDifferenceCame) {
  Tables runs = figure_4();
  const DualSlice slice = slice_of(runs, at(44), SliceKind::kPruned);
  EXPECT_EQ(nodes_of(slice, kFailing),
            (std::set{at(44), at(41), at(40), at(36, 2), at(34, 2), at(33), at(1)}));
  EXPECT_EQ(nodes_of(slice, kPassing),
            (std::set{at(44), at(43), at(40), at(34, 2), at(33), at(22)}));
  EXPECT_TRUE(edges_of(slice, kFailing).contains({at(41), at(36, 2), false, false}));
}

TEST(DualSlice, StopsAtTheMostNodes) {
  Tables runs = figure_4();
  EXPECT_FALSE(dual_slice(runs, at(44), 3).complete);
}

// The same by rules that are applied until nothing changes.
class Reference {
 public:
  Reference(Tables& runs, SliceKind kind, NodeId failure) : runs_(runs), kind_(kind) {
    visited_[kFailing].insert(failure);
    nodes[kFailing].insert(failure);
    for (bool changed = true; changed;) {
      changed = false;
      for (const WhichRun side : {kFailing, kPassing}) {
        const auto visited = visited_[side];
        for (const NodeId node : visited) changed |= apply(side, node);
      }
    }
  }
  std::array<std::set<NodeId>, 2> nodes;

 private:
  bool apply(WhichRun side, NodeId node) {
    bool changed = false;
    const Difference difference = runs_.difference(side, node);
    const NodeId there = runs_.counterpart(side, node);
    if (difference == Difference::kValue) {
      changed |= visited_[other(side)].insert(there).second;
      nodes[other(side)].insert(there);
    }
    for (const NodeDependence& one : runs_.dependences(side, node)) {
      if (runs_.difference(side, one.on) != Difference::kNone &&
          (kind_ == SliceKind::kDual || wanted(side, difference, node, one))) {
        changed |= visited_[side].insert(one.on).second;
        nodes[side].insert(one.on);
      } else if (there != kNoNode) {
        for (const NodeDependence& same : runs_.dependences(other(side), there))
          if (same.use == one.use && same.control == one.control &&
              runs_.counterpart(side, one.on) != same.on)
            changed |= nodes[side].insert(one.on).second;
      }
    }
    return changed;
  }
  // Conditions [2], [3] and [4].
  bool wanted(WhichRun side, Difference of, NodeId node, const NodeDependence& one) {
    if (of == Difference::kValue) return !one.control;
    if (of == Difference::kNone) return true;
    if (one.control) return true;
    if (side == kPassing) return false;
    std::set<NodeId> by_control;
    for (const NodeDependence& each : runs_.dependences(side, node))
      if (each.control) by_control = values(each.on);
    for (const NodeId value : values(one.on))
      if (!by_control.contains(value)) return true;
    return false;
  }
  const std::set<NodeId>& values(NodeId node) {
    const auto known = values_.find(node);
    return known != values_.end() ? known->second : values_[node] = find_values(node);
  }
  std::set<NodeId> find_values(NodeId node) {
    std::set<NodeId> found;
    if (runs_.difference(kFailing, node) == Difference::kNone) return found;
    if (runs_.difference(kFailing, node) == Difference::kValue) found.insert(node);
    for (const NodeDependence& one : runs_.dependences(kFailing, node))
      for (const NodeId value : values(one.on)) found.insert(value);
    return found;
  }

  Tables& runs_;
  SliceKind kind_;
  std::array<std::set<NodeId>, 2> visited_;
  std::map<NodeId, std::set<NodeId>> values_;
};

// Each node depends on earlier ones, at most one of them by control; some are in one run only, and
// some take a value from elsewhere in the other run.
Tables random_runs(std::mt19937& random, unsigned most) {
  const auto draw = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
  Tables runs;
  const NodeId count = 6 + draw(most - 6);
  for (NodeId node = 0; node < count; ++node) {
    const unsigned where = node == count - 1 ? 0 : draw(6);  // the failure is in both
    for (const WhichRun side : {kFailing, kPassing}) {
      if (where == (side == kFailing ? 4u : 5u)) continue;
      runs.add(side, node);
    }
    if (where < 4 && draw(2) == 0) runs.value(node);
    for (unsigned use = 0, uses = node == 0 ? 0 : draw(3); use < uses; ++use) {
      const NodeId on = draw(static_cast<unsigned>(node));
      const NodeId elsewhere = draw(4) == 0 ? draw(static_cast<unsigned>(node)) : on;
      for (const WhichRun side : {kFailing, kPassing}) {
        const NodeId from = side == kFailing ? on : elsewhere;
        if (runs.run(side).contains(node) && runs.run(side).contains(from))
          runs.data(side, node, from, use + 1);
      }
    }
    if (node > 0 && draw(2) == 0) {
      const NodeId on = draw(static_cast<unsigned>(node));
      for (const WhichRun side : {kFailing, kPassing})
        if (runs.run(side).contains(node) && runs.run(side).contains(on))
          runs.control(side, node, on);
    }
  }
  return runs;
}

TEST(DualSlice, AgreesWithTheRulesOnRandomRuns) {
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    Tables runs = random_runs(random, i % 8 == 0 ? 60 : 20);
    const NodeId failure = runs.run(kFailing).rbegin()->first;
    std::array<std::set<NodeId>, 2> dual;
    for (const SliceKind kind : {SliceKind::kDual, SliceKind::kPruned}) {
      const DualSlice slice = slice_of(runs, failure, kind);
      const Reference reference(runs, kind, failure);
      for (const WhichRun side : {kFailing, kPassing}) {
        ASSERT_EQ(nodes_of(slice, side), reference.nodes[side]) << "pair " << i;
        if (kind == SliceKind::kDual) dual[side] = nodes_of(slice, side);
        for (const NodeId node : slice.half[side].nodes)
          ASSERT_TRUE(dual[side].contains(node)) << "pruning adds nothing; pair " << i;
      }
    }
  }
}

// A loop that only the failing run executes, each round by the one before, with a value that a difference before it
// has made: what pruning asks of each round must not be answered by walking back over all.
// What happens inside calls that are not seen is told of the whole call: two of them can depend on each other.
TEST(DualSlice, ThatGoesInACircleEnds) {
  Tables t;
  for (const WhichRun side : {kFailing, kPassing}) {
    t.add(side, at(1));
    t.data(side, at(40), at(1), 1);
  }
  t.value(at(1));
  t.value(at(40));
  t.data(kFailing, at(40), at(35), 2);
  t.control(kFailing, at(35), at(1));
  t.data(kFailing, at(35), at(30), 1);
  t.data(kFailing, at(30), at(20), 1);
  t.data(kFailing, at(20), at(30), 1);
  t.control(kFailing, at(30), at(1));
  t.data(kFailing, at(20), at(1), 2);
  const DualSlice slice = slice_of(t, at(40), SliceKind::kPruned);
  EXPECT_TRUE(nodes_of(slice, kFailing).contains(at(1)));
}

TEST(DualSlice, OfALongLoopIsFoundInLinearTime) {
  constexpr NodeId kRounds = 50'000;
  Tables runs;
  for (const WhichRun side : {kFailing, kPassing}) {
    runs.add(side, 0);
    runs.add(side, 1);
    runs.data(side, 1, 0, 1);
  }
  runs.value(0);
  runs.value(1);
  for (NodeId i = 2; i < kRounds; ++i) {
    runs.control(kFailing, i, i - 1);
    runs.data(kFailing, i, i % 2 == 0 ? 0 : i - 1, 1);
  }
  runs.add(kPassing, kRounds);
  runs.data(kFailing, kRounds, kRounds - 1, 1);
  runs.data(kPassing, kRounds, 1, 1);
  runs.value(kRounds);
  const DualSlice dual = dual_slice(runs, kRounds, 2 * kRounds);
  EXPECT_EQ(dual.half[kFailing].nodes.size(), kRounds + 1);
  const DualSlice pruned = pruned_slice(runs, dual, kRounds);
  EXPECT_TRUE(pruned.complete);
  EXPECT_TRUE(pruned.half[kFailing].nodes.contains(0));
}

TEST(SliceHalf, HasItsEdgesByTheirNodes) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    SliceBuilder builder;
    std::set<NodeId> nodes;
    std::set<SliceEdge> edges;
    for (int k = 0; k < 40; ++k) {
      const NodeId from = random() % 1'000'000;
      const auto [number, added] = builder.add(from);
      EXPECT_EQ(added, nodes.insert(from).second);
      if (!added || k % 3 == 0) continue;
      builder.begin_edges(number);
      for (unsigned e = 0; e < random() % 4; ++e) {
        const NodeId to = random() % 1'000'000;
        nodes.insert(to);
        edges.insert({from, to, e == 1, e == 2});
        builder.edge(builder.add(to).first, e == 1, e == 2);
      }
    }
    const SliceHalf half = builder.finish();
    EXPECT_TRUE(std::ranges::equal(half.nodes, nodes));
    std::set<SliceEdge> found;
    half.for_each_edge([&](const SliceEdge& edge) { found.insert(edge); });
    EXPECT_EQ(found, edges);
    for (const SliceEdge& edge : edges) {
      const auto users = half.data_users(edge.to);
      EXPECT_EQ(std::ranges::find(users, edge.from) != users.end(), !edge.control);
    }
  }
}

TEST(DynamicSlice, IsAllThatTheFailureDependsOn) {
  Tables runs = figure_4();
  const SliceHalf slice = dynamic_slice(runs, at(44), 1000, SliceEdges::kKept);
  EXPECT_TRUE(slice.nodes.contains(at(36)));
  EXPECT_TRUE(slice.nodes.contains(at(35)));
  EXPECT_FALSE(slice.nodes.contains(at(22)));
}

}  // namespace
}  // namespace clew
