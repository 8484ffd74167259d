// One run's part of a slice: instances and what each depends on, as tables of numbers.
#ifndef CLEW_HOST_EXPLAIN_SLICE_HALF_H_
#define CLEW_HOST_EXPLAIN_SLICE_HALF_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace clew {

// An instance, by a number that its run gives it.
using NodeId = std::uint64_t;
inline constexpr NodeId kNoNode = UINT64_MAX;

struct SliceEdge {
  NodeId from = kNoNode;  // depends ...
  NodeId to = kNoNode;    // ... on this
  bool control = false;
  bool def_use = false;  // the dependence is the difference: the other run has another one there

  auto operator<=>(const SliceEdge&) const = default;
};

// Distinct instances, ascending.
class SliceNodes {
 public:
  SliceNodes() = default;
  // REQUIRES: `sorted` is, and has none twice.
  explicit SliceNodes(std::vector<NodeId> sorted) : nodes_(std::move(sorted)) {}

  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Its place among them; kNone: it is not.
  [[nodiscard]] std::uint32_t index_of(NodeId node) const;
  [[nodiscard]] bool contains(NodeId node) const { return index_of(node) != kNone; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId operator[](std::size_t index) const { return nodes_[index]; }
  [[nodiscard]] auto begin() const { return nodes_.begin(); }
  [[nodiscard]] auto end() const { return nodes_.end(); }

 private:
  std::vector<NodeId> nodes_;
};

// What an instance depends on, by its place among the nodes.
struct IndexedEdge {
  std::uint32_t to : 30;
  std::uint32_t control : 1;
  std::uint32_t def_use : 1;

  bool operator==(const IndexedEdge&) const = default;
};
static_assert(sizeof(IndexedEdge) == 4);

class SliceHalf {
 public:
  SliceNodes nodes;

  // Of the node with this place.
  [[nodiscard]] std::span<const IndexedEdge> edges_of(std::uint32_t index) const {
    if (index + 1u >= first_edge_.size()) return {};
    return std::span(edges_).subspan(first_edge_[index],
                                     first_edge_[index + 1] - first_edge_[index]);
  }
  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }
  // `call` is given each as a SliceEdge, ascending by `from`.
  template <typename Call>
  void for_each_edge(Call&& call) const {
    for (std::uint32_t i = 0; i + 1u < first_edge_.size(); ++i)
      for (const IndexedEdge& edge : edges_of(i))
        call(SliceEdge{nodes[i], nodes[edge.to], edge.control != 0, edge.def_use != 0});
  }
  // The nodes whose data come from it. Looks at all edges.
  [[nodiscard]] std::vector<NodeId> data_users(NodeId node) const;

 private:
  friend class SliceBuilder;
  std::vector<std::uint32_t> first_edge_;  // of each node, and the end
  std::vector<IndexedEdge> edges_;
};

// Distinct instances with numbers in the order in which they come.
class NodeTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Its number, and whether it is new.
  std::pair<std::uint32_t, bool> add(NodeId node);
  [[nodiscard]] std::uint32_t find(NodeId node) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId operator[](std::uint32_t number) const { return nodes_[number]; }
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  [[nodiscard]] std::size_t slot(NodeId node) const;  // its own, or a free one
  void grow();

  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> slots_;  // numbers; a power of two, at most half of them taken
};

// Edges are added node by node: all of one before those of the next.
class SliceBuilder {
 public:
  std::pair<std::uint32_t, bool> add(NodeId node) { return table_.add(node); }
  [[nodiscard]] const NodeTable& table() const { return table_; }
  // What follows is of this node, which had none.
  void begin_edges(std::uint32_t from);
  void edge(std::uint32_t to, bool control, bool def_use);
  // Leaves the builder empty.
  [[nodiscard]] SliceHalf finish();

 private:
  struct Run {
    std::uint32_t from = 0;
    std::uint32_t first = 0;
  };
  NodeTable table_;
  std::vector<Run> runs_;
  std::vector<IndexedEdge> edges_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_SLICE_HALF_H_
