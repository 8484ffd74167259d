#include "host/search/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "clew_abi/guides.h"

namespace clew {
namespace {

constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
// Before the first run has told: chosen, not measured.
constexpr std::uint64_t kGuessedLength = 100;

constexpr auto kNames = std::to_array<const char*>({
#define CLEW_KIND(name, text) text,
    CLEW_STRATEGIES(CLEW_KIND)
#undef CLEW_KIND
});

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t z = state_ += kGolden;
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

std::uint64_t Random::below(std::uint64_t end) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * end) >> 64);
}

double Random::unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

// Box and Muller; the second value is not kept, for the sake of a state of one word.
double Random::gaussian() {
  const double radius = std::sqrt(-2 * std::log(1 - unit()));
  return radius * std::cos(2 * std::numbers::pi * unit());
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return Random(a ^ (b << 1 | b >> 63)).next();
}

std::uint64_t job_seed(std::uint64_t seed, std::uint64_t job) {
  return Random(Random(seed).next() + job * kGolden).next();
}

SamplingSearch::SamplingSearch(abi::StrategyKind kind, std::uint64_t seed, std::uint32_t parameter)
    : kind_(kind), seed_(seed), parameter_(parameter) {}

std::vector<JobPlan> SamplingSearch::next(std::size_t most) {
  const bool alone = kind_ == abi::StrategyKind::kNone || wants_length();
  if (kind_ == abi::StrategyKind::kNone && proposed_ > 0) return {};
  std::vector<JobPlan> jobs;
  for (std::size_t count = alone ? std::min<std::size_t>(most, 1) : most; count > 0; --count)
    jobs.push_back(propose());
  return jobs;
}

JobPlan SamplingSearch::propose() {
  JobPlan job;
  job.strategy = wants_length() ? abi::StrategyKind::kPos : kind_;
  job.seed = job_seed(seed_, proposed_);
  if (job.strategy == abi::StrategyKind::kPct) {
    job.parameters[abi::kPctDepth] = parameter_;
    job.parameters[abi::kPctSteps] = longest_ > 0 ? longest_ : kGuessedLength;
  }
  if (kind_ == abi::StrategyKind::kRandom || kind_ == abi::StrategyKind::kPos)
    job.parameters[abi::kRandomUpdateWeight] = parameter_;
  // Much noise may hide what little shows.
  if (job.strategy == abi::StrategyKind::kNoise) {
    static constexpr std::array<std::uint64_t, 4> kDensities{100, 50, 25, 10};
    job.parameters[abi::kNoiseDensity] = kDensities[proposed_ % kDensities.size()];
  }
  ++proposed_;
  return job;
}

bool SamplingSearch::wants_length() const {
  return kind_ == abi::StrategyKind::kPct && proposed_ == 0 && longest_ == 0;
}

void SamplingSearch::learn(const JobPlan&, const JobReport& report) {
  longest_ = std::max(longest_, report.result.scheduling_points);
}

std::string SamplingSearch::using_now() const { return kNames[static_cast<std::size_t>(kind_)]; }

std::optional<std::string> SamplingSearch::conclusion() const {
  if (kind_ != abi::StrategyKind::kNone || proposed_ == 0) return std::nullopt;
  return "there is one schedule without preemptions, and it was run";
}

}  // namespace clew
