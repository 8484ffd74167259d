#include "host/noise/scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

namespace clew {
namespace {

constexpr double k95 = 1.959963985;
// Of one campaign in a hundred a point stands out by chance.
constexpr double kLevel = 0.01;

// Both limits of the ratio q / r of two independent shares, from their own limits (Donner and Zou
// 2012). Wilson's do not shrink to nothing if all of a few failing samples have the point.
std::pair<double, double> limits_of_ratio(const SampleCounts& counted, double q, double r) {
  const auto rate = [](double with, double without) {
    return Rate{static_cast<std::uint64_t>(with), static_cast<std::uint64_t>(with + without)};
  };
  const Rate failing = rate(counted.failing_with, counted.failing_without);
  const Rate passing = rate(counted.passing_with, counted.passing_without);
  const auto down = [](const Rate& of, double share, double least) {
    return std::log(share / std::min(share, std::max(of.low(), least)));
  };
  const auto up = [](const Rate& of, double share) {
    return std::log(std::max(share, of.high()) / share);
  };
  // If no passing sample has the point, half a one is taken to have it: no limit is infinite.
  const double half_a_sample = 0.5 / (static_cast<double>(passing.runs) + 1);
  return {q / r * std::exp(-std::hypot(down(failing, q, 0), up(passing, r))),
          q / r * std::exp(std::hypot(up(failing, q), down(passing, r, half_a_sample)))};
}

// The samples by one point's noise: on either side, before the event, after it. Those without sides count for the first.
struct SideCounts {
  SampleCounts either, before, after;
  void add(const Sample& sample, std::size_t point, bool fails) {
    either.add(sample.points.has(point), fails);
    if (!sample.has_sides()) return;
    before.add(sample.delays_before(point), fails);
    after.add(sample.delays_after(point), fails);
  }
  [[nodiscard]] PointScore most_telling() const {
    PointScore best = score_of(either);
    for (const auto& [counts, side] :
         {std::pair(&before, NoiseSide::kBefore), std::pair(&after, NoiseSide::kAfter)}) {
      if (counts->with() == 0) continue;
      PointScore one = score_of(*counts);
      one.side = side;
      if (one.z > best.z) best = one;
    }
    return best;
  }
};

}  // namespace

// A half is added to each cell (Haldane 1955, Anscombe 1956), so that no odds are 0 or infinite. The
// odds with the point over all odds are the share of the failing samples that have it over that of
// the passing ones.
PointScore score_of(const SampleCounts& counted) {
  SampleCounts t = counted;
  for (double* cell : {&t.failing_with, &t.passing_with, &t.failing_without, &t.passing_without})
    *cell += 0.5;
  const double failing = t.failing_with + t.failing_without;
  const double passing = t.passing_with + t.passing_without;
  PointScore result;
  const double share_of_failing = t.failing_with / failing;
  const double share_of_passing = t.passing_with / passing;
  result.score = share_of_failing / share_of_passing;
  std::tie(result.low, result.high) = limits_of_ratio(counted, share_of_failing, share_of_passing);
  result.hue = t.failing_with / (t.failing_with + t.passing_with);
  // Of the odds with the point and without it, by a normal approximation.
  const double with = t.failing_with + t.passing_with;
  const double without = t.failing_without + t.passing_without;
  const double all = failing / (failing + passing);
  const double deviation = std::sqrt(all * (1 - all) * (1 / with + 1 / without));
  if (deviation > 0) result.z = (t.failing_with / with - t.failing_without / without) / deviation;
  return result;
}

double normal_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

// By bisection: it is needed a few times in a campaign.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (normal_tail(middle) > tail ? low : high) = middle;
  }
  return high;
}

std::vector<std::uint32_t> Scores::ranking() const {
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [this](std::uint32_t a, std::uint32_t b) {
    return std::pair(-points[a].score, a) < std::pair(-points[b].score, b);
  });
  return order;
}

bool Scores::some_stand_apart() const {
  const std::vector<std::uint32_t> order = ranking();
  for (std::size_t k = 0; k < 3 && k + 1 < order.size(); ++k) {
    if (!stands_out(order[k])) return false;
    if (points[order[k]].low > points[order[k + 1]].high) return true;
  }
  return false;
}

Scores score(std::span<const Sample> samples, std::size_t points, const CountFailed& failed,
             std::optional<std::uint32_t> threshold) {
  Scores result;
  double failures = 0, runs = 0;
  for (const Sample& sample : samples) {
    if (sample.purpose != SamplePurpose::kDesign || sample.runs == 0) continue;
    ++result.samples;
    failures += failed(sample);
    runs += sample.runs;
  }
  result.runs_failing = runs > 0 ? failures / runs : 0;
  const double mean = result.samples > 0 ? failures / static_cast<double>(result.samples) : 0;
  result.threshold = threshold.value_or(std::max(1u, static_cast<std::uint32_t>(mean)));
  std::vector<SideCounts> tables(points);
  bool has_sides = false;
  for (const Sample& sample : samples) {
    if (sample.purpose != SamplePurpose::kDesign || sample.runs == 0) continue;
    const bool fails = failed(sample) >= result.threshold;
    result.failing += fails;
    has_sides |= sample.has_sides();
    for (std::size_t i = 0; i < points; ++i) tables[i].add(sample, i, fails);
  }
  for (const SideCounts& table : tables) {
    result.points.push_back(score_of(table.either));
    result.sides.push_back(table.most_telling());
  }
  const std::size_t looks = std::max<std::size_t>(points, 1) * (has_sides ? 3 : 1);
  result.z_to_stand_out = normal_quantile(kLevel / static_cast<double>(looks));
  return result;
}

double Rate::low() const {
  if (runs == 0) return 0;
  const double n = static_cast<double>(runs), p = value(), z = k95;
  return std::max(0.0,
                  (p + z * z / (2 * n) - z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n))) /
                      (1 + z * z / n));
}

double Rate::high() const {
  if (runs == 0) return 1;
  const double n = static_cast<double>(runs), p = value(), z = k95;
  return std::min(1.0,
                  (p + z * z / (2 * n) + z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n))) /
                      (1 + z * z / n));
}

double probability_higher(const Rate& a, const Rate& b) {
  const auto mean = [](const Rate& r) {
    return (static_cast<double>(r.failed) + 1) / (static_cast<double>(r.runs) + 2);
  };
  const auto variance = [&](const Rate& r) {
    return mean(r) * (1 - mean(r)) / (static_cast<double>(r.runs) + 3);
  };
  return 1 - normal_tail((mean(a) - mean(b)) / std::sqrt(variance(a) + variance(b)));
}

}  // namespace clew
