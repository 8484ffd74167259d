#include "host/explain/slice_half.h"

#include <algorithm>
#include <numeric>

namespace clew {

std::uint32_t SliceNodes::index_of(NodeId node) const {
  const auto found = std::ranges::lower_bound(nodes_, node);
  return found != nodes_.end() && *found == node
             ? static_cast<std::uint32_t>(found - nodes_.begin())
             : kNone;
}

std::vector<NodeId> SliceHalf::data_users(NodeId node) const {
  std::vector<NodeId> users;
  const std::uint32_t index = nodes.index_of(node);
  if (index == SliceNodes::kNone) return users;
  for (std::uint32_t i = 0; i + 1u < first_edge_.size(); ++i)
    if (std::ranges::any_of(edges_of(i), [&](const IndexedEdge& edge) {
          return edge.to == index && edge.control == 0;
        }))
      users.push_back(nodes[i]);
  return users;
}

std::size_t NodeTable::slot(NodeId node) const {
  // Fibonacci hashing: nodes differ in their lower bits, and steps come in rows.
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>((node * 0x9e3779b97f4a7c15u) >> 20) & mask;
  while (slots_[at] != kNone && nodes_[slots_[at]] != node) at = (at + 1) & mask;
  return at;
}

void NodeTable::grow() {
  std::vector<std::uint32_t>(std::max<std::size_t>(64, slots_.size() * 2), kNone).swap(slots_);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) slots_[slot(nodes_[i])] = i;
}

std::pair<std::uint32_t, bool> NodeTable::add(NodeId node) {
  if ((nodes_.size() + 1) * 2 > slots_.size()) grow();
  std::uint32_t& number = slots_[slot(node)];
  if (number != kNone) return {number, false};
  number = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  return {number, true};
}

std::uint32_t NodeTable::find(NodeId node) const {
  return slots_.empty() ? kNone : slots_[slot(node)];
}

void SliceBuilder::begin_edges(std::uint32_t from) {
  runs_.push_back({from, static_cast<std::uint32_t>(edges_.size())});
}

void SliceBuilder::edge(std::uint32_t to, bool control, bool def_use) {
  const IndexedEdge made{to, control, def_use};
  // Two registers may have one source.
  if (std::find(edges_.begin() + runs_.back().first, edges_.end(), made) == edges_.end())
    edges_.push_back(made);
}

SliceHalf SliceBuilder::finish() {
  SliceHalf half;
  const std::vector<NodeId>& nodes = table_.nodes();
  std::vector<std::uint32_t> order(nodes.size());  // numbers, by their nodes
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t number) { return nodes[number]; });
  std::vector<std::uint32_t> place(nodes.size());
  std::vector<NodeId> sorted;
  sorted.reserve(nodes.size());
  for (const std::uint32_t number : order) {
    place[number] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(nodes[number]);
  }
  table_ = {};
  half.nodes = SliceNodes(std::move(sorted));
  half.first_edge_.assign(order.size() + 1, 0);
  const auto end_of = [&](std::size_t run) {
    return run + 1 < runs_.size() ? runs_[run + 1].first : edges_.size();
  };
  for (std::size_t i = 0; i < runs_.size(); ++i)
    half.first_edge_[place[runs_[i].from] + 1] =
        static_cast<std::uint32_t>(end_of(i) - runs_[i].first);
  std::partial_sum(half.first_edge_.begin(), half.first_edge_.end(), half.first_edge_.begin());
  half.edges_.resize(edges_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    std::size_t to = half.first_edge_[place[runs_[i].from]];
    for (std::size_t k = runs_[i].first; k < end_of(i); ++k, ++to) {
      half.edges_[to] = edges_[k];
      half.edges_[to].to = place[edges_[k].to];
    }
  }
  runs_.clear();
  edges_.clear();
  return half;
}

}  // namespace clew
