#include "host/model/flow_loops.h"

#include <algorithm>
#include <utility>

namespace clew {

FlowLoops::FlowLoops(const FlowGraph& graph) {
  const auto& blocks = graph.blocks();
  const std::uint32_t entry = graph.block_of(graph.range().begin);
  if (entry == FlowGraph::kNone) return;
  std::vector<std::vector<std::uint32_t>> before(blocks.size());
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    for (const std::uint32_t to : blocks[i].successors) before[to].push_back(i);
  enum class Visit : std::uint8_t { kNot, kOnPath, kDone };
  std::vector<Visit> visits(blocks.size(), Visit::kNot);
  std::vector<std::pair<std::uint32_t, std::size_t>> path{{entry, 0}};
  visits[entry] = Visit::kOnPath;
  while (!path.empty()) {
    auto& [at, next] = path.back();
    if (next == blocks[at].successors.size()) {
      visits[at] = Visit::kDone;
      path.pop_back();
      continue;
    }
    const std::uint32_t to = blocks[at].successors[next++];
    if (visits[to] == Visit::kOnPath) add(before, to, at);
    if (visits[to] != Visit::kNot) continue;
    visits[to] = Visit::kOnPath;
    path.emplace_back(to, 0);
  }
}

void FlowLoops::add(const std::vector<std::vector<std::uint32_t>>& before, std::uint32_t header,
                    std::uint32_t last) {
  auto& members = members_[header];
  members.resize(before.size());
  members[header] = true;
  std::vector<std::uint32_t> todo{last};
  while (!todo.empty()) {
    const std::uint32_t at = todo.back();
    todo.pop_back();
    if (members[at]) continue;
    members[at] = true;
    todo.insert(todo.end(), before[at].begin(), before[at].end());
  }
}

bool FlowLoops::begins_round(std::uint32_t header, std::uint32_t one, std::uint32_t other) const {
  const auto found = members_.find(header);
  return found != members_.end() && found->second[one] && found->second[other];
}

bool FlowLoops::has_without(std::uint32_t one, std::uint32_t other) const {
  return std::ranges::any_of(members_, [&](const auto& loop) {
    return loop.second[one] && (other == FlowGraph::kNone || !loop.second[other]);
  });
}

}  // namespace clew
