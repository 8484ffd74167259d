#include "host/noise/stretches.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace clew {
namespace {

using Lines = std::pair<Location, Location>;

// Where two stacks, the innermost frame first, part within one function. Nothing: they do not.
std::optional<Lines> where_they_part(const std::vector<Location>& a,
                                     const std::vector<Location>& b) {
  auto one = a.rbegin();
  auto other = b.rbegin();
  while (one != a.rend() && other != b.rend() && *one == *other) ++one, ++other;
  if (one == a.rend() || other == b.rend()) return std::nullopt;
  if (one->file != other->file || one->function != other->function) return std::nullopt;
  return Lines(*one, *other);
}

// The same lines for all visits that were seen, or those of the points.
Lines lines_of(const NoisePoint& from, const NoisePoint& to) {
  std::optional<Lines> lines;
  for (const auto& a : from.stacks)
    for (const auto& b : to.stacks) {
      const auto here = where_they_part(a, b);
      if (!here) continue;
      if (lines && *lines != *here) return {from.at, to.at};
      lines = here;
    }
  return lines.value_or(Lines(from.at, to.at));
}

}  // namespace

std::vector<Stretch> stretches(std::span<const ScoredEdge> edges,
                               std::span<const NoisePoint> points, const DelayScores& delays,
                               double z_to_stand_out) {
  std::vector<Stretch> found;
  for (const ScoredEdge& edge : edges) {
    if (!edge.seen) continue;  // nobody was seen to take it
    const PointScore &from = delays.after[edge.from], &to = delays.before[edge.to];
    if (std::min(std::abs(from.z), std::abs(to.z)) < z_to_stand_out || (from.z > 0) != (to.z > 0))
      continue;
    const auto [first, then] = lines_of(points[edge.from], points[edge.to]);
    const bool more = from.z > 0;
    found.push_back({edge.from, edge.to, first, then,
                     more ? DelayEffect::kFailsMore : DelayEffect::kFailsLess,
                     more ? std::min(from.score, to.score) : std::max(from.score, to.score)});
  }
  std::ranges::sort(found, {}, [](const Stretch& one) {
    const bool more = one.effect == DelayEffect::kFailsMore;
    return std::tuple(one.effect, more ? -one.score : one.score, one.from, one.to);
  });
  std::set<std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>> told;
  std::erase_if(found, [&](const Stretch& one) {
    return !told.emplace(one.first.file, one.first.line, one.then.file, one.then.line).second;
  });
  return found;
}

}  // namespace clew
