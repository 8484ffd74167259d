// A slice in source lines: what people look at, and what the paper's tables count.
#ifndef CLEW_HOST_EXPLAIN_LINE_GRAPH_H_
#define CLEW_HOST_EXPLAIN_LINE_GRAPH_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "host/explain/dual_slice.h"
#include "host/explain/explanation.h"
#include "host/explain/naming.h"
#include "host/explain/traced_pair.h"

namespace clew {

// Instances of lines: instructions of one line in one call, one after the other. One that both runs
// have in the slice is one.
class LineGraph {
 public:
  // REQUIRES: the slice outlives it.
  LineGraph(TracedPair& pair, const DualSlice& slice);

  static constexpr std::size_t kNoLine = SIZE_MAX;
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  // Those that the run has, alone or with the other.
  [[nodiscard]] std::uint64_t count(WhichRun side) const;
  [[nodiscard]] std::uint64_t functions() const;
  // kNoLine: the instruction belongs to no line of the user's.
  [[nodiscard]] std::size_t line_of(WhichRun side, NodeId node) const;
  // How many lines lie nearer to the first than the second: what is to be looked at before it is
  // reached, breadth first. The number of all that can be reached, if it cannot.
  [[nodiscard]] std::uint64_t distance(std::size_t from, std::size_t to) const;

  // What a line depends on comes before it; `end`, which is drawn by what leads to it, is the last.
  [[nodiscard]] SliceGraph told(Naming& naming, std::size_t end, std::size_t most) const;

 private:
  struct Line {
    const CodePlace* place = nullptr;
    std::array<Instance, 2> first;  // in each run; not valid: not there
  };
  struct Arrow {
    std::uint32_t from = 0;  // depends ...
    std::uint32_t to = 0;    // ... on this
    bool control = false;
    bool def_use = false;
    std::array<bool, 2> in = {};
  };

  static constexpr std::uint32_t kNone = UINT32_MAX;
  void add(WhichRun side);
  [[nodiscard]] std::uint32_t line_in_failing(NodeId passing, const CodePlace& place) const;
  void connect();
  [[nodiscard]] std::span<const std::uint32_t> needs(std::size_t line) const {
    return std::span(needs_).subspan(first_need_[line], first_need_[line + 1] - first_need_[line]);
  }
  void order(std::size_t at, std::vector<bool>& seen, std::vector<std::size_t>& sorted) const;

  TracedPair& pair_;
  std::vector<Line> lines_;
  std::vector<Arrow> arrows_;
  std::vector<std::uint32_t> first_need_;  // of each line, and the end
  std::vector<std::uint32_t> needs_;       // arrows from each line
  const DualSlice& slice_;
  std::array<std::vector<std::uint32_t>, 2> of_node_;  // by its place in the slice
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_LINE_GRAPH_H_
