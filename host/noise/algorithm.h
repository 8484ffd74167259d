// Algorithms that search for the points that make a failure appear.
//
//  features  Tzoref, Ur, Yom-Tov 2007, section 4.1: a design of samples fixed beforehand, scores, then
//            the best point alone, the two best, ... (features.cc)
//  active    samples that depend on what was seen (active.cc): the default
//  dd, ddmin delta debugging of the set of points, the paper's [26] and its successor (delta.cc).
//            The variant of Copty and Ur that the paper names is not described there.
//  others    from a shared library (plugin.h, <clew/search.h>)
#ifndef CLEW_HOST_NOISE_ALGORITHM_H_
#define CLEW_HOST_NOISE_ALGORITHM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/noise/sample.h"
#include "host/noise/scores.h"

namespace clew {

struct SearchOptions {
  std::string algorithm = "active";
  std::size_t samples = 0;  // of the design; 0: the algorithm's own number
  std::uint32_t runs = 0;   // of each; 0: likewise
  std::optional<std::uint32_t>
      threshold;          // failing runs that make a sample fail; nothing: the mean
  bool one_kind = false;  // all failures are the same
};

// Less confidence than this, and the points are not reported: what fails as often without them has
// its cause elsewhere.
inline constexpr double kLeastConfidence = 0.9;

// An order of two steps (orders.h), by the positions of their points.
struct StepOrder {
  std::uint32_t first = 0, then = 0;
  std::uint64_t failing = 0, passing = 0;  // traced runs in which it was seen
};
// Where a thread stood for ever when all were blocked.
struct StuckAt {
  std::uint32_t point = 0;
  // The last step of another thread at the same object; nothing: there was none.
  std::optional<std::uint32_t> last;
  std::uint64_t failing = 0;  // traced runs that ended so
  auto operator<=>(const StuckAt&) const = default;
};
struct OrderEvidence {
  std::uint64_t failing = 0, passing = 0;  // traced runs
  std::vector<StepOrder> orders;           // the most telling first
  std::vector<StuckAt> stuck;              // the most frequent first
};

// Points that make a failure appear, as far as an algorithm found them.
struct NoiseCause {
  std::optional<std::uint32_t> failure;  // its number in the hunt; nothing: any
  std::vector<std::uint32_t> points;     // the more important first
  Rate rate;                             // with noise at these points alone
  std::vector<Rate> without_each;  // the same without one of them, in their order; may be empty
  // That each of them is needed: that the rate is lower without it. Of the runs that were made to
  // confirm it alone, which are others than those that led to it. Nothing: it was not tested.
  std::optional<double> confidence;
  [[nodiscard]] bool is_tenable() const {
    return rate.failed > 0 && confidence.value_or(1) >= kLeastConfidence;
  }
  OrderEvidence orders;
  bool beside_first = false;  // found in the samples without the first cause of the same failure
};

struct SearchResult {
  std::vector<NoiseCause> causes;
  std::vector<std::string> remarks;  // sentences
};

// What a sample's failures are counted by: one kind of failure, or all.
class Target {
 public:
  Target() = default;
  explicit Target(std::uint32_t failure) : failure_(failure) {}
  [[nodiscard]] std::optional<std::uint32_t> failure() const { return failure_; }
  [[nodiscard]] std::uint32_t operator()(const Sample& sample) const {
    if (!failure_) return sample.failed();
    const auto found = sample.failures.find(*failure_);
    return found != sample.failures.end() ? found->second : 0;
  }

 private:
  std::optional<std::uint32_t> failure_;
};
// The failures seen in the samples, the most frequent first; one, if they count as one kind.
[[nodiscard]] std::vector<Target> targets(std::span<const Sample> samples, bool one_kind);

inline constexpr std::size_t kMostCauses = 4;

[[nodiscard]] SearchResult search_features(Laboratory& laboratory, const SearchOptions& options);
[[nodiscard]] SearchResult search_active(Laboratory& laboratory, const SearchOptions& options);
enum class Delta : std::uint8_t { kDd, kDdmin };
[[nodiscard]] SearchResult search_delta(Laboratory& laboratory, const SearchOptions& options,
                                        Delta kind);

// Runs the samples in batches, each of which is kept. False: told to stop.
[[nodiscard]] bool run_in_batches(Laboratory& laboratory, std::vector<Sample> samples);

// Runs the points alone; nothing: told to stop.
[[nodiscard]] std::optional<Rate> rate_alone(Laboratory& laboratory,
                                             std::span<const std::uint32_t> points,
                                             std::uint32_t runs, const Target& target);

// Section 4.2: the samples that contain all points of the first cause say nothing of a second one. One that has a neighbour
// of a point instead has the same delay, as often as not.
void leave_out(const Laboratory& laboratory, std::span<const std::uint32_t> cause,
               std::vector<Sample>& samples);

// Whether each point of the cause is needed: runs it without each of them, drops those that are not,
// and fills in rates and confidence. False: told to stop.
[[nodiscard]] bool confirm(Laboratory& laboratory, NoiseCause& cause, const Target& target);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_ALGORITHM_H_
