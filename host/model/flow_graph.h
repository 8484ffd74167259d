// The flow graph of one function, from its machine code: blocks, where each leads, which block comes
// after it on every way to the end (its immediate post-dominator), and on which blocks' branches it
// depends (Ferrante, Ottenstein and Warren 1987).
//
// Where an indirect jump leads, and which calls come back by an exception, the code does not say:
// both are known as far as they were seen, and are given as extra edges.
#ifndef CLEW_HOST_MODEL_FLOW_GRAPH_H_
#define CLEW_HOST_MODEL_FLOW_GRAPH_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "host/model/code_map.h"
#include "host/model/instruction.h"

namespace clew {

class FlowGraph {
 public:
  using Edge = std::pair<std::uint64_t, std::uint64_t>;  // from an instruction to another

  struct Block {
    std::uint64_t begin = 0;
    std::uint64_t last = 0;  // its last instruction
    std::uint64_t end = 0;   // behind it
    std::vector<std::uint32_t> successors;
    bool leaves = false;  // the function may end here
    std::uint32_t post_dominator = kNone;
    std::vector<std::uint32_t> controllers;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;  // the end of the function, or no block

  // `code` is that of the function, which begins at `range.begin`.
  FlowGraph(const CodeRange& range, std::span<const std::uint8_t> code,
            const std::vector<Edge>& seen);

  [[nodiscard]] const CodeRange& range() const { return range_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  // kNone: the address is in no code that was found.
  [[nodiscard]] std::uint32_t block_of(std::uint64_t address) const;
  // Where every way from the branch at `address` meets again; 0: at the end of the function.
  [[nodiscard]] std::uint64_t meets_at(std::uint64_t address) const;
  // Whether `address` is executed or not by the outcome of the branch at `branch`.
  [[nodiscard]] bool depends(std::uint64_t address, std::uint64_t branch) const;

 private:
  void find_blocks(std::span<const std::uint8_t> code, const std::vector<Edge>& seen);
  void find_post_dominators();
  void find_controllers();

  CodeRange range_;
  std::vector<Block> blocks_;  // ascending
};

}  // namespace clew

#endif  // CLEW_HOST_MODEL_FLOW_GRAPH_H_
