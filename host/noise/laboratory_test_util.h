// A laboratory without a program: the probability of failure is a function of the points.
#ifndef CLEW_HOST_NOISE_LABORATORY_TEST_UTIL_H_
#define CLEW_HOST_NOISE_LABORATORY_TEST_UTIL_H_

#include <functional>
#include <utility>
#include <vector>

#include "host/noise/sample.h"
#include "host/search/sampling.h"

namespace clew {

class SimulatedLaboratory final : public Laboratory {
 public:
  // The probabilities of the failures 0, 1, ... with these points.
  using Chances = std::function<std::vector<double>(const Subset&)>;

  SimulatedLaboratory(std::size_t points, std::uint64_t seed, Chances chances)
      : points_(points), seed_(seed), chances_(std::move(chances)), random_(seed * 77 + 5) {}

  std::size_t points() const override { return points_; }
  bool may_answer(std::size_t) const override { return true; }
  bool is_suspect(std::size_t) const override { return false; }
  std::span<const Sample> run(std::vector<Sample> batch) override {
    if (runs >= most_runs) return {};
    const std::size_t first = samples_.size();
    for (Sample& sample : batch) {
      const auto chances = chances_(sample.points);
      for (std::uint32_t i = 0; i < sample.wanted; ++i) {
        double ticket = random_.unit();
        for (std::uint32_t failure = 0; failure < chances.size();
             ++failure, ticket -= chances[failure - 1])
          if (ticket < chances[failure]) {
            ++sample.failures[failure];
            break;
          }
      }
      sample.runs = sample.wanted;
      runs += sample.wanted;
      samples_.push_back(std::move(sample));
    }
    return std::span<const Sample>(samples_).subspan(first);
  }
  std::span<const Sample> run_traced(std::vector<Sample> batch, const OnRun&) override {
    return run(std::move(batch));
  }
  std::span<const Sample> all() const override { return samples_; }
  std::uint64_t seed() const override { return seed_; }
  void say(const char*, std::size_t) override {}

  std::uint64_t runs = 0;
  std::uint64_t most_runs = ~std::uint64_t{0};

 private:
  std::size_t points_;
  std::uint64_t seed_;
  Chances chances_;
  Random random_;
  std::vector<Sample> samples_;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_LABORATORY_TEST_UTIL_H_
