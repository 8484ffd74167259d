#include "host/model/flow_graphs.h"

#include <vector>

namespace clew {

void FlowGraphs::see(std::uint64_t from, std::uint64_t to) { seen_.emplace(from, to); }

const FlowGraph* FlowGraphs::at(std::uint64_t address) {
  const auto [known, added] = found_.try_emplace(address, nullptr);
  if (!added) return known->second;
  const auto range = code_.function(address);
  if (!range) return nullptr;
  auto& graph = graphs_[range->begin];
  if (graph == nullptr) {
    std::vector<FlowGraph::Edge> seen;
    for (auto edge = seen_.lower_bound({range->begin, 0});
         edge != seen_.end() && edge->first < range->end; ++edge)
      if (range->has(edge->second)) seen.push_back(*edge);
    graph = std::make_unique<FlowGraph>(*range, code_.code(range->begin), seen);
  }
  return found_[address] = graph.get();
}

const FlowLoops& FlowGraphs::loops(const FlowGraph& graph) {
  return loops_.try_emplace(&graph, graph).first->second;
}

}  // namespace clew
