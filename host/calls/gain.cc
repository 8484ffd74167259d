#include "host/calls/gain.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace clew {
namespace {

double information(double part, double all) {
  return part <= 0 ? 0 : -(part / all) * std::log2(part / all);
}

int classes_in(const ClassCounts& counts) { return (counts.passing > 0) + (counts.failing > 0); }

ClassCounts sum_of(std::span<const ValueCounts> column) {
  ClassCounts sum;
  for (const ValueCounts& value : column) sum += value.runs;
  return sum;
}

// Rounding must not make a cut of one that gains nothing.
constexpr double kNothing = 1e-12;

struct Cut {
  std::size_t behind;
  ClassCounts left;
  double entropy;
};

std::optional<Cut> best_cut(std::span<const ValueCounts> column, const ClassCounts& all) {
  std::optional<Cut> best;
  double least = entropy(all) - kNothing;
  ClassCounts left;
  for (std::size_t i = 0; i + 1 < column.size(); ++i) {
    left += column[i].runs;
    const double now = entropy_of_parts(std::array{left, all - left});
    if (now >= least) continue;
    least = now;
    best = Cut{i, left, now};
  }
  return best;
}

// Fayyad and Irani 1993, section 3.
bool is_worth_its_description(const ClassCounts& all, const Cut& cut, std::size_t possible) {
  const ClassCounts right = all - cut.left;
  const int classes = classes_in(all);
  const double delta = std::log2(std::pow(3.0, classes) - 2) -
                       (classes * entropy(all) - classes_in(cut.left) * entropy(cut.left) -
                        classes_in(right) * entropy(right));
  return entropy(all) - cut.entropy >
         (std::log2(static_cast<double>(possible)) + delta) / all.all();
}

void find_cuts(std::span<const ValueCounts> column, std::size_t first,
               std::vector<std::size_t>& cuts) {
  const ClassCounts all = sum_of(column);
  const auto cut = best_cut(column, all);
  if (!cut || !is_worth_its_description(all, *cut, column.size() - 1)) return;
  find_cuts(column.first(cut->behind + 1), first, cuts);
  cuts.push_back(first + cut->behind);
  find_cuts(column.subspan(cut->behind + 1), first + cut->behind + 1, cuts);
}

}  // namespace

double entropy(const ClassCounts& counts) {
  const double all = counts.all();
  return information(counts.passing, all) + information(counts.failing, all);
}

double entropy_of_parts(std::span<const ClassCounts> parts) {
  double all = 0;
  double sum = 0;
  for (const ClassCounts& part : parts) {
    all += part.all();
    sum += part.all() * entropy(part);
  }
  return all > 0 ? sum / all : 0;
}

double info_gain(std::span<const ClassCounts> parts) {
  ClassCounts all;
  for (const ClassCounts& part : parts) all += part;
  return std::max(0.0, entropy(all) - entropy_of_parts(parts));
}

double gain_ratio(std::span<const ClassCounts> parts) {
  double all = 0;
  for (const ClassCounts& part : parts) all += part.all();
  double split = 0;
  for (const ClassCounts& part : parts) split += information(part.all(), all);
  return split <= kNothing ? 0 : info_gain(parts) / split;
}

std::vector<std::size_t> cuts_by_description_length(const Histogram& column) {
  std::vector<std::size_t> cuts;
  if (!column.empty()) find_cuts(column, 0, cuts);
  return cuts;
}

double discretised_gain_ratio(const Histogram& column) {
  const std::vector<std::size_t> cuts = cuts_by_description_length(column);
  if (cuts.empty()) return 0;
  std::vector<ClassCounts> parts;
  std::size_t from = 0;
  const std::span<const ValueCounts> all(column);
  for (const std::size_t cut : cuts) {
    parts.push_back(sum_of(all.subspan(from, cut + 1 - from)));
    from = cut + 1;
  }
  parts.push_back(sum_of(all.subspan(from)));
  return gain_ratio(parts);
}

std::optional<BinarySplit> best_split(const Histogram& column) {
  const ClassCounts all = sum_of(column);
  const auto cut = best_cut(column, all);
  if (!cut) return std::nullopt;
  const std::array parts{cut->left, all - cut->left};
  return BinarySplit{cut->behind, info_gain(parts), gain_ratio(parts)};
}

}  // namespace clew
