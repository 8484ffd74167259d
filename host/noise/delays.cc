#include "host/noise/delays.h"

#include <map>
#include <optional>

#include "clew_abi/guides.h"

namespace clew {
namespace {

bool is_told(const Sample& sample) {
  return sample.purpose == SamplePurpose::kDesign && sample.runs > 0 && sample.sides != 0;
}

// By point: the one that always came next and never came after another one.
std::vector<std::optional<std::uint32_t>> only_next(std::size_t points,
                                                    const std::set<PointEdge>& seen) {
  std::vector<std::uint32_t> leaving(points), coming(points);
  for (const auto& [from, to] : seen) ++leaving[from], ++coming[to];
  std::vector<std::optional<std::uint32_t>> next(points);
  for (const auto& [from, to] : seen)
    if (from != to && leaving[from] == 1 && coming[to] == 1) next[from] = to;
  return next;
}

}  // namespace

std::vector<PointScore> score_delays_after(std::span<const Sample> samples,
                                           std::span<const NoisePoint> points,
                                           const std::set<PointEdge>& seen,
                                           const CountFailed& failed, std::uint32_t threshold) {
  const auto next = only_next(points.size(), seen);
  std::vector<SampleCounts> counts(points.size());
  for (const Sample& sample : samples) {
    if (!is_told(sample)) continue;
    const bool fails = failed(sample) >= threshold;
    const auto comes_after = [&](std::uint32_t i) {
      return abi::noise_comes_after(sample.sides, points[i].place);
    };
    for (std::uint32_t i = 0; i < points.size(); ++i)
      counts[i].add((sample.points.has(i) && comes_after(i)) ||
                        (next[i] && sample.points.has(*next[i]) && !comes_after(*next[i])),
                    fails);
  }
  std::vector<PointScore> scores;
  for (const SampleCounts& of : counts)
    scores.push_back(of.with() == 0 ? PointScore() : score_of(of));
  return scores;
}

}  // namespace clew
