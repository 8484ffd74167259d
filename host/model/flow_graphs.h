// The flow graphs of a program's functions, made when they are first asked for.
#ifndef CLEW_HOST_MODEL_FLOW_GRAPHS_H_
#define CLEW_HOST_MODEL_FLOW_GRAPHS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>

#include "host/model/code_map.h"
#include "host/model/flow_graph.h"
#include "host/model/flow_loops.h"

namespace clew {

class FlowGraphs {
 public:
  explicit FlowGraphs(CodeMap& code) : code_(code) {}

  // A run went from one instruction to the other within a function, which the code does not tell.
  // REQUIRES: no graph was asked for.
  void see(std::uint64_t from, std::uint64_t to);
  // Of the function that has the address; null: not known.
  [[nodiscard]] const FlowGraph* at(std::uint64_t address);
  [[nodiscard]] const FlowLoops& loops(const FlowGraph& graph);

 private:
  CodeMap& code_;
  std::set<FlowGraph::Edge> seen_;
  std::unordered_map<std::uint64_t, std::unique_ptr<FlowGraph>> graphs_;  // by their beginning
  std::unordered_map<std::uint64_t, const FlowGraph*> found_;             // by any address
  std::unordered_map<const FlowGraph*, FlowLoops> loops_;
};

}  // namespace clew

#endif  // CLEW_HOST_MODEL_FLOW_GRAPHS_H_
