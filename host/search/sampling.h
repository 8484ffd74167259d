// Searches that only sample: every job is a run of the same strategy with a fresh seed, and what
// is learnt is at most the length of the run. Also the randomness that all searches use.
//
//  random  a uniform random walk
//  pct     Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding
//          Bugs", ASPLOS 2010, section 2 (algorithm: runtime/strategy/pct.h). Its change points are
//          drawn from 1..k, where k is the number of steps, which the paper takes as given.
//          Deviation: k is the largest number of scheduling points seen so far. The first job is a
//          run of pos, alone in its round, that gives the first k.
//  pos     Yuan et al., "Partial Order Aware Concurrency Sampling", CAV 2018
//  chaos, timer  preemption at random clocks
//  noise   delays at all points, at half of them, at a quarter, at a tenth, in turn
//  none    one run, for it comes out the same every time
#ifndef CLEW_HOST_SEARCH_SAMPLING_H_
#define CLEW_HOST_SEARCH_SAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/job.h"
#include "host/search/search.h"

namespace clew {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Not <random>: its distributions may differ from
// one standard library to the next, and a hunt with the same seed should be the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  // Uniform in 0..end-1. REQUIRES: end > 0.
  std::uint64_t below(std::uint64_t end);
  double unit();      // uniform in [0, 1)
  double gaussian();  // mean 0, standard deviation 1

 private:
  std::uint64_t state_;
};

// One number of two, for hashes and for seeds.
[[nodiscard]] std::uint64_t mix(std::uint64_t a, std::uint64_t b);

// The seed of job number `job` of a search with this seed.
[[nodiscard]] std::uint64_t job_seed(std::uint64_t seed, std::uint64_t job);

class SamplingSearch final : public Search {
 public:
  // REQUIRES: a kind without guide. `parameter`: for pct its depth, the number of priority changes
  // + 1; for random and pos the weight of updates (runtime/strategy), 0: they are like others.
  SamplingSearch(abi::StrategyKind kind, std::uint64_t seed, std::uint32_t parameter);

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;
  [[nodiscard]] std::optional<std::string> conclusion() const override;

 private:
  [[nodiscard]] JobPlan propose();
  [[nodiscard]] bool wants_length() const;

  abi::StrategyKind kind_;
  std::uint64_t seed_;
  std::uint32_t parameter_;
  std::uint64_t proposed_ = 0;
  std::uint64_t longest_ = 0;  // scheduling points
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_SAMPLING_H_
