#include "host/noise/design.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>

namespace clew {
namespace {

// The columns of X, a bit for each sample: then X'X is a matter of counting bits.
std::vector<std::vector<std::uint64_t>> columns_of(const Design& design, std::size_t points) {
  std::vector<std::vector<std::uint64_t>> columns(
      points, std::vector<std::uint64_t>((design.size() + 63) / 64));
  for (std::size_t row = 0; row < design.size(); ++row)
    for (std::size_t i = 0; i < points; ++i)
      if (design[row].has(i)) columns[i][row / 64] |= std::uint64_t{1} << (row % 64);
  return columns;
}

}  // namespace

Design random_design(std::size_t points, std::size_t samples, std::uint64_t seed) {
  Random random(seed);
  Design design(samples, Subset(points));
  std::uint64_t bits = 0;
  std::size_t left = 0;
  for (Subset& subset : design)
    for (std::size_t i = 0; i < points; ++i, --left, bits >>= 1) {
      if (left == 0) bits = random.next(), left = 64;
      if (bits & 1) subset.add(i);
    }
  return design;
}

double log_determinant(const Design& design, std::size_t points) {
  const auto columns = columns_of(design, points);
  const auto n = static_cast<Eigen::Index>(points);
  Eigen::MatrixXd information(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto& a = columns[static_cast<std::size_t>(i)];
      const auto& b = columns[static_cast<std::size_t>(j)];
      int common = 0;
      for (std::size_t word = 0; word < a.size(); ++word)
        common += std::popcount(a[word] & b[word]);
      information(i, j) = common;
    }
  if (design.size() <= points) information.diagonal().array() += 1;
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(information);
  if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  double sum = 0;
  for (Eigen::Index i = 0; i < n; ++i) sum += 2 * std::log(information(i, i));
  return sum;
}

Design d_optimal_design(std::size_t points, std::size_t samples, std::uint64_t seed,
                        std::size_t tried) {
  std::vector<double> values(tried);
  std::atomic<std::size_t> next{0};
  const auto seed_of = [&](std::size_t i) { return job_seed(seed, i); };
  const auto work = [&] {
    for (std::size_t i = next++; i < tried; i = next++)
      values[i] = log_determinant(random_design(points, samples, seed_of(i)), points);
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
  }
  const auto best = std::ranges::max_element(values);
  return random_design(points, samples, seed_of(static_cast<std::size_t>(best - values.begin())));
}

}  // namespace clew
