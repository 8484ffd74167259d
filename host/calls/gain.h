// How well a number tells two classes of runs apart: entropy, information gain, gain ratio
// (Eichinger et al. 2010, definition 1), the cuts of a numeric column by Fayyad and Irani's criterion
// (IJCAI 1993), and the best single cut (C4.5).
#ifndef CLEW_HOST_CALLS_GAIN_H_
#define CLEW_HOST_CALLS_GAIN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace clew {

// How many runs of each class; a weight instead, where classes are balanced.
struct ClassCounts {
  double passing = 0;
  double failing = 0;

  [[nodiscard]] double all() const { return passing + failing; }
  ClassCounts& operator+=(const ClassCounts& other) {
    passing += other.passing;
    failing += other.failing;
    return *this;
  }
  ClassCounts operator-(const ClassCounts& other) const {
    return {passing - other.passing, failing - other.failing};
  }
  bool operator==(const ClassCounts&) const = default;
};

// The runs in which a column has this value.
struct ValueCounts {
  std::uint64_t value = 0;
  ClassCounts runs;
};

// A column, by ascending value; each value once.
using Histogram = std::vector<ValueCounts>;

// Info, in bits.
[[nodiscard]] double entropy(const ClassCounts& counts);
// Info of a set divided into parts: the weighted mean.
[[nodiscard]] double entropy_of_parts(std::span<const ClassCounts> parts);
// 0 if there is a single part.
[[nodiscard]] double gain_ratio(std::span<const ClassCounts> parts);
[[nodiscard]] double info_gain(std::span<const ClassCounts> parts);

// Where a column is cut: behind which positions of the histogram, ascending. Of all cuts the one with
// the least entropy is taken if it is worth its description, and then each side is looked at in the same
// way. What a cut costs follows from the number of cuts that are possible, which are those between two
// values: Weka's attribute evaluators count them so ("better encoding").
[[nodiscard]] std::vector<std::size_t> cuts_by_description_length(const Histogram& column);

// The gain ratio of the column cut like that; 0 without a cut. This is what Weka's evaluator of that name gives.
[[nodiscard]] double discretised_gain_ratio(const Histogram& column);

// The single cut with the greatest information gain.
struct BinarySplit {
  std::size_t behind = 0;  // position in the histogram
  double gain = 0;
  double ratio = 0;
};
// Nothing: all values are the same, or no cut gains anything.
[[nodiscard]] std::optional<BinarySplit> best_split(const Histogram& column);

}  // namespace clew

#endif  // CLEW_HOST_CALLS_GAIN_H_
