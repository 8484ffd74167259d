#include "host/noise/delays.h"

namespace clew {
namespace {

PointScore score_or_none(const SampleCounts& counts) {
  return counts.with() == 0 ? PointScore() : score_of(counts);
}

}  // namespace

DelayScores score_delays(std::span<const Sample> samples, std::size_t points,
                         const std::set<PointEdge>& seen, const CountFailed& failed,
                         std::uint32_t threshold) {
  const Neighbours neighbours(points, seen);
  std::vector<SampleCounts> before(points), after(points);
  for (const Sample& sample : samples) {
    if (sample.purpose != SamplePurpose::kDesign || sample.runs == 0 || !sample.has_sides())
      continue;
    const bool fails = failed(sample) >= threshold;
    for (std::uint32_t i = 0; i < points; ++i) {
      const auto next = neighbours.next[i], previous = neighbours.previous[i];
      after[i].add(sample.delays_after(i) || (next && sample.delays_before(*next)), fails);
      before[i].add(sample.delays_before(i) || (previous && sample.delays_after(*previous)), fails);
    }
  }
  DelayScores scores;
  for (std::size_t i = 0; i < points; ++i) {
    scores.before.push_back(score_or_none(before[i]));
    scores.after.push_back(score_or_none(after[i]));
  }
  return scores;
}

}  // namespace clew
