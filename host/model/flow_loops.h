// The loops of a function: for each block that a way leads back to, the blocks between (natural loops; Aho, Sethi and Ullman 1986, 10.4).
#ifndef CLEW_HOST_MODEL_FLOW_LOOPS_H_
#define CLEW_HOST_MODEL_FLOW_LOOPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "host/model/flow_graph.h"

namespace clew {

class FlowLoops {
 public:
  explicit FlowLoops(const FlowGraph& graph);

  // Whether each round of a loop that has both blocks begins with the block `header`.
  [[nodiscard]] bool begins_round(std::uint32_t header, std::uint32_t one,
                                  std::uint32_t other) const;
  // Whether a loop has the block `one` and not `other`, which may be FlowGraph::kNone.
  [[nodiscard]] bool has_without(std::uint32_t one, std::uint32_t other) const;

 private:
  void add(const std::vector<std::vector<std::uint32_t>>& before, std::uint32_t header,
           std::uint32_t last);

  std::map<std::uint32_t, std::vector<bool>> members_;  // by header
};

}  // namespace clew

#endif  // CLEW_HOST_MODEL_FLOW_LOOPS_H_
