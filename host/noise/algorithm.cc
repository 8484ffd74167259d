#include "host/noise/algorithm.h"

#include <algorithm>
#include <map>

namespace clew {
namespace {

// What is lost if clew is ended: less than a second of work for most programs. Chosen, not measured.
constexpr std::uint64_t kRunsInBatch = 2000;
constexpr std::uint32_t kRunsToConfirm = 150;
constexpr std::uint32_t kMostRunsToConfirm = 1200;
constexpr double kLooksToConfirm = 4;  // after 150, 300, 600 and 1200 runs
constexpr double kConfident = 0.99;
// A point without which the rate is at least this part of what it is with it is not needed.
constexpr double kAsGood = 0.8;

}  // namespace

std::vector<Target> targets(std::span<const Sample> samples, bool one_kind) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const Sample& sample : samples)
    for (const auto& [failure, count] : sample.failures) counts[failure] += count;
  if (counts.empty()) return {};
  if (one_kind || counts.size() == 1) return {one_kind ? Target() : Target(counts.begin()->first)};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order(counts.begin(), counts.end());
  std::ranges::sort(order, [](auto& a, auto& b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  std::vector<Target> result;
  for (const auto& [failure, count] : order) result.emplace_back(failure);
  return result;
}

bool run_in_batches(Laboratory& laboratory, std::vector<Sample> samples) {
  std::vector<Sample> batch;
  std::uint64_t runs = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    runs += samples[i].wanted;
    batch.push_back(std::move(samples[i]));
    if (runs < kRunsInBatch && i + 1 < samples.size()) continue;
    if (laboratory.run(std::move(batch)).empty()) return false;
    batch = {};
    runs = 0;
  }
  return true;
}

std::optional<Rate> rate_alone(Laboratory& laboratory, std::span<const std::uint32_t> points,
                               std::uint32_t runs, const Target& target) {
  const auto ran =
      laboratory.run({{Subset(laboratory.points(), points), runs, SamplePurpose::kAnswer}});
  if (ran.empty()) return std::nullopt;
  Rate rate;
  rate.add(ran.front(), target);
  return rate;
}

void leave_out(const Laboratory& laboratory, std::span<const std::uint32_t> cause,
               std::vector<Sample>& samples) {
  const auto has = [&](const Sample& sample, std::uint32_t point) {
    const auto neighbours = laboratory.neighbours(point);
    return sample.points.has(point) ||
           std::ranges::any_of(neighbours, [&](std::uint32_t i) { return sample.points.has(i); });
  };
  std::erase_if(samples, [&](const Sample& sample) {
    return std::ranges::all_of(cause, [&](std::uint32_t point) { return has(sample, point); });
  });
}

namespace {

bool add_runs(Laboratory& laboratory, NoiseCause& cause, std::uint32_t runs, const Target& target) {
  std::vector<Sample> batch{
      {Subset(laboratory.points(), cause.points), runs, SamplePurpose::kAnswer}};
  for (const std::uint32_t point : cause.points) {
    batch.push_back(batch.front());
    batch.back().points.remove(point);
  }
  const auto ran = laboratory.run(std::move(batch));
  if (ran.empty()) return false;
  cause.without_each.resize(cause.points.size());
  cause.rate.add(ran[0], target);
  for (std::size_t i = 0; i < cause.points.size(); ++i)
    cause.without_each[i].add(ran[i + 1], target);
  return true;
}

}  // namespace

bool confirm(Laboratory& laboratory, NoiseCause& cause, const Target& target) {
  // The rates are looked at several times, and again when a point was left out: each look may be
  // wrong (Bonferroni).
  const double looks = kLooksToConfirm * static_cast<double>(cause.points.size());
  for (std::uint32_t runs = kRunsToConfirm;;) {
    if (!add_runs(laboratory, cause, runs, target)) return false;
    // The least needed one goes first.
    const auto least = std::ranges::max_element(cause.without_each, {},
                                                [](const Rate& rate) { return rate.value(); });
    if (cause.points.size() > 1 && cause.rate.failed > 0 &&
        least->value() >= kAsGood * cause.rate.value()) {
      const auto at = least - cause.without_each.begin();
      cause.points.erase(cause.points.begin() + at);
      cause.rate = {};
      cause.without_each.clear();
      runs = kRunsToConfirm;
      continue;
    }
    double doubt = 0;
    for (const Rate& without : cause.without_each)
      doubt += 1 - probability_higher(cause.rate, without);
    cause.confidence = std::max(0.0, 1 - looks * doubt);
    if (*cause.confidence >= kConfident || cause.rate.runs >= kMostRunsToConfirm) return true;
    runs = static_cast<std::uint32_t>(cause.rate.runs);
  }
}

}  // namespace clew
