// A sample: a set of points with noise, and what became of the runs with it.
#ifndef CLEW_HOST_NOISE_SAMPLE_H_
#define CLEW_HOST_NOISE_SAMPLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "host/noise/subset.h"
#include "host/trace/trace.h"

namespace clew {

// Why it was run. Only those of a design are scored: in them each point is as likely as not.
enum class SamplePurpose : std::uint8_t {
  kDesign,
  kSearch,
  kAnswer,
  kWithout,
  kEverywhere,
  kTraced
};

struct Sample {
  Subset points;
  std::uint32_t wanted = 0;  // runs
  SamplePurpose purpose = SamplePurpose::kDesign;
  std::uint32_t runs = 0;                                // that passed or failed
  std::map<std::uint32_t, std::uint32_t> failures = {};  // by the failure's number in the hunt
  // Not 0: noise at a point came always before the event, or, at the points of `after`, always after it. Otherwise by
  // the toss of a coin at each visit.
  std::uint64_t sides = 0;
  Subset after = {};

  [[nodiscard]] bool has_sides() const { return sides != 0; }
  // REQUIRES: it has sides.
  [[nodiscard]] bool delays_after(std::size_t point) const {
    return points.has(point) && after.has(point);
  }
  [[nodiscard]] bool delays_before(std::size_t point) const {
    return points.has(point) && !after.has(point);
  }

  [[nodiscard]] std::uint32_t failed() const {
    std::uint32_t sum = 0;
    for (const auto& [failure, count] : failures) sum += count;
    return sum;
  }
};

// Runs samples, for an algorithm that searches for points.
class Laboratory {
 public:
  virtual ~Laboratory() = default;
  [[nodiscard]] virtual std::size_t points() const = 0;
  // Whether the point may be part of an answer: one that only starts a thread is not.
  [[nodiscard]] virtual bool may_answer(std::size_t point) const = 0;
  // What is known about it before any sample: seen in a race, or in an inversion of locks.
  [[nodiscard]] virtual bool is_suspect(std::size_t point) const = 0;
  // The points whose noise may be the same delay as noise at this one: the one that always comes right before it, and the
  // one that always comes right after it.
  [[nodiscard]] virtual std::vector<std::uint32_t> neighbours(std::size_t point) const {
    (void)point;
    return {};
  }
  // Runs each sample as often as it says, on all cores, and keeps them. The results are those of
  // the batch, in its order, valid until the next call. Nothing: there was no time, or clew was told
  // to stop.
  [[nodiscard]] virtual std::span<const Sample> run(std::vector<Sample> batch) = 0;
  // The same, and each run that passed or failed is told with what it did, in order. `failure`: its
  // number in the hunt; nothing: it passed. Samples that are kept are run all the same.
  using OnRun = std::function<void(const Trace& trace, std::optional<std::uint32_t> failure)>;
  [[nodiscard]] virtual std::span<const Sample> run_traced(std::vector<Sample> batch,
                                                           const OnRun& on_run) = 0;
  [[nodiscard]] virtual std::span<const Sample> all() const = 0;
  [[nodiscard]] virtual std::uint64_t seed() const = 0;
  // What the algorithm is about to do, for the status line.
  virtual void say(const char* stage, std::size_t planned) = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_SAMPLE_H_
