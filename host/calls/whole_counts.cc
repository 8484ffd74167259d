#include "host/calls/whole_counts.h"

namespace clew {

FeatureTable with_whole_counts(
    const FeatureTable& table, const std::vector<CallEdge>& edges,
    const std::unordered_map<CallEdge, std::uint64_t, CallEdgeHash>& feature_of) {
  std::unordered_map<std::uint64_t, std::uint64_t> into;
  for (std::uint64_t feature = 0; feature < edges.size(); ++feature) {
    CallEdge edge = edges[feature];
    if (edge.context != kAtTheEnd) continue;
    edge.context = 0;
    if (const auto earlier = feature_of.find(edge); earlier != feature_of.end())
      into.emplace(feature, earlier->second);
  }
  return into.empty() ? table : table.add_up(into);
}

}  // namespace clew
