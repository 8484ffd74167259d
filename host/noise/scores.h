// Which points go with failing samples (Tzoref, Ur, Yom-Tov 2007, section 4.1).
#ifndef CLEW_HOST_NOISE_SCORES_H_
#define CLEW_HOST_NOISE_SCORES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/noise/sample.h"

namespace clew {

// How many of a sample's runs fail in the way that is looked at.
using CountFailed = std::function<std::uint32_t(const Sample&)>;

// Where noise at a point is made: before the event or after it (Sample::sides).
enum class NoiseSide : std::uint8_t { kEither, kBefore, kAfter };

struct PointScore {
  // The odds that a sample with the point fails over the odds that a sample does: 1 means that it
  // makes no difference. The paper's printed formula is the first of the two alone, which gives the
  // same order.
  double score = 1;
  double low = 1, high = 1;  // 95 %
  double hue = 0.5;          // Tarantula's, as the paper has it: P(fails | point)
  double z = 0;              // of the difference that the point makes, in standard deviations
  NoiseSide side = NoiseSide::kEither;  // of the samples that count as having the point
};

// Samples with something (a point, as a rule) and without it, that fail and that pass.
struct SampleCounts {
  double failing_with = 0, passing_with = 0, failing_without = 0, passing_without = 0;
  void add(bool with, bool fails) {
    ++(with ? fails ? failing_with : passing_with : fails ? failing_without : passing_without);
  }
  [[nodiscard]] double with() const { return failing_with + passing_with; }
};
[[nodiscard]] PointScore score_of(const SampleCounts& counted);

struct Scores {
  std::vector<PointScore> points;  // of noise on either side, as the paper has it
  // Of the three sides the one that goes with failing most clearly: a delay that matters on one side of an event may do
  // nothing on the other. They say what stands out. They are no ranking, as a delay between two points is one of both.
  std::vector<PointScore> sides;
  std::uint32_t threshold = 1;  // failing runs that make a sample a failing one
  std::size_t samples = 0;      // of the design
  std::size_t failing = 0;
  double runs_failing = 0;  // of all of the design's, as a share
  // Points that make a difference: |z| beyond what any point of so many reaches by chance in one
  // campaign out of a hundred, on whichever side.
  double z_to_stand_out = 0;

  [[nodiscard]] std::vector<std::uint32_t> ranking() const;  // best first
  // Whether one, two or three points stand out and are told from all that come after them.
  [[nodiscard]] bool some_stand_apart() const;
  [[nodiscard]] bool stands_out(std::size_t point) const {
    return sides[point].z >= z_to_stand_out;
  }
};

// `threshold`: nothing for max(1, floor(mean number of failing runs)), as section 5 has it.
[[nodiscard]] Scores score(std::span<const Sample> samples, std::size_t points,
                           const CountFailed& failed,
                           std::optional<std::uint32_t> threshold = std::nullopt);

// The upper tail of the normal distribution, and the z that it begins at.
[[nodiscard]] double normal_tail(double z);
[[nodiscard]] double normal_quantile(double tail);

// 95 % for a rate of `failed` out of `runs` (Wilson 1927).
struct Rate {
  std::uint64_t failed = 0;
  std::uint64_t runs = 0;
  [[nodiscard]] double value() const {
    return runs == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(runs);
  }
  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
  void add(const Sample& sample, const CountFailed& counted) {
    failed += counted(sample);
    runs += sample.runs;
  }
};
// The probability that the first rate is the higher one, given what was seen (Beta posteriors with
// uniform priors, by their means and variances).
[[nodiscard]] double probability_higher(const Rate& a, const Rate& b);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_SCORES_H_
