#include "host/noise/edges.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace clew {
namespace {

// Of log score, from its interval.
double variance_of(const PointScore& score) {
  const double half = (std::log(score.high) - std::log(score.low)) / 2 / 1.959963985;
  return half * half;
}

// Kolmogorov's distribution: the probability of a value of at least `lambda`.
double kolmogorov_tail(double lambda) {
  if (lambda < 0.2) return 1;
  double sum = 0, sign = 1;
  for (int k = 1; k <= 100; ++k, sign = -sign) {
    const double term = std::exp(-2 * k * k * lambda * lambda);
    sum += sign * term;
    if (term < 1e-300) break;
  }
  return std::clamp(2 * sum, 0.0, 1.0);
}

}  // namespace

std::vector<ScoredEdge> score_edges(const std::set<PointEdge>& in_code,
                                    const std::set<PointEdge>& seen,
                                    std::span<const NoisePoint> points,
                                    std::span<const PointScore> after) {
  std::vector<ScoredEdge> edges;
  std::set<PointEdge> all = in_code;
  all.insert(seen.begin(), seen.end());
  for (const auto& [from, to] : all) {
    if (to == from || points[from].starts_thread() || points[to].starts_thread()) continue;
    const PointScore &a = after[from], &b = after[to];
    const double deviation = std::sqrt(variance_of(a) + variance_of(b));
    edges.push_back({from, to, seen.contains({from, to}), a.score - b.score,
                     deviation > 0 ? (std::log(a.score) - std::log(b.score)) / deviation : 0});
  }
  std::ranges::sort(edges, {}, [](const ScoredEdge& edge) {
    return std::tuple(-std::abs(edge.difference), edge.from, edge.to);
  });
  return edges;
}

KolmogorovSmirnov kolmogorov_smirnov(std::vector<double> a, std::vector<double> b) {
  KolmogorovSmirnov result;
  if (a.empty() || b.empty()) return result;
  std::ranges::sort(a);
  std::ranges::sort(b);
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    result.d =
        std::max(result.d, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  // The correction for small samples is Stephens' (1970).
  const double root = std::sqrt(n * m / (n + m));
  result.p = kolmogorov_tail((root + 0.12 + 0.11 / root) * result.d);
  return result;
}

Differences differences(std::span<const ScoredEdge> edges, std::span<const NoisePoint> points,
                        const Scores& scores) {
  Differences result;
  const auto difference = [&](std::size_t i, std::size_t j) {
    return scores.points[i].score - scores.points[j].score;
  };
  for (const ScoredEdge& edge : edges) result.consecutive.push_back(difference(edge.from, edge.to));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < points.size(); ++j)
      if (i != j && !points[i].starts_thread() && !points[j].starts_thread())
        result.arbitrary.push_back(difference(i, j));
  return result;
}

}  // namespace clew
