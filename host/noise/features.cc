// Feature selection as in the paper: the samples are fixed beforehand.
#include <algorithm>
#include <iterator>

#include "host/noise/algorithm.h"
#include "host/noise/design.h"

namespace clew {
namespace {

constexpr std::size_t kSamples = 5000;
constexpr std::uint32_t kRuns = 20;
constexpr std::uint32_t kRunsAlone = 100;
constexpr std::size_t kMostPoints = 10;
constexpr double kHigh = 0.9;    // "until the bug appears with high probability"
constexpr double kAsGood = 0.8;  // of the best rate: the smaller set is preferred

// The best point alone, the two best, and so on.
bool try_prefixes(Laboratory& laboratory, const Scores& scores, const Target& target,
                  NoiseCause& cause) {
  std::vector<std::uint32_t> order = scores.ranking();
  std::erase_if(order, [&](std::uint32_t point) { return !laboratory.may_answer(point); });
  std::vector<Rate> rates;
  for (std::size_t k = 1; k <= std::min(kMostPoints, order.size()); ++k) {
    const auto rate = rate_alone(laboratory, std::span(order).first(k), kRunsAlone, target);
    if (!rate) return false;
    rates.push_back(*rate);
    if (rate->value() >= kHigh) break;
  }
  const auto best = std::ranges::max_element(rates, {}, &Rate::value);
  if (best == rates.end() || best->failed == 0) return true;
  const auto chosen = std::ranges::find_if(
      rates, [&](const Rate& rate) { return rate.value() >= kAsGood * best->value(); });
  cause.points.assign(order.begin(), order.begin() + (chosen - rates.begin()) + 1);
  cause.rate = *chosen;
  return true;
}

bool anything_stands_out(Laboratory& laboratory, const Scores& scores) {
  for (std::size_t i = 0; i < scores.points.size(); ++i)
    if (laboratory.may_answer(i) && scores.stands_out(i)) return true;
  return false;
}

std::vector<Sample> design_of(std::span<const Sample> samples) {
  std::vector<Sample> design;
  std::ranges::copy_if(samples, std::back_inserter(design), [](const Sample& sample) {
    return sample.purpose == SamplePurpose::kDesign;
  });
  return design;
}

}  // namespace

SearchResult search_features(Laboratory& laboratory, const SearchOptions& options) {
  const std::size_t samples = options.samples != 0 ? options.samples : kSamples;
  const std::uint32_t runs = options.runs != 0 ? options.runs : kRuns;
  laboratory.say("choosing a design", samples);
  std::vector<Sample> batch;
  for (Subset& subset : d_optimal_design(laboratory.points(), samples, laboratory.seed()))
    batch.push_back({std::move(subset), runs, SamplePurpose::kDesign});
  laboratory.say("sampling", samples);
  SearchResult result;
  if (!run_in_batches(laboratory, std::move(batch))) return result;
  for (const Target& target : targets(laboratory.all(), options.one_kind)) {
    std::vector<Sample> design = design_of(laboratory.all());
    for (bool beside_first = false; result.causes.size() < kMostCauses; beside_first = true) {
      const Scores scores = score(design, laboratory.points(), target, options.threshold);
      // Failures that were told apart are one bug each, as a rule: another point that makes it appear is mostly
      // another way to it. Where they count as one, it is the paper's rule.
      if (beside_first && !options.one_kind ? !scores.some_stand_apart()
                                            : !anything_stands_out(laboratory, scores))
        break;
      laboratory.say("trying the best points alone", 0);
      NoiseCause cause;
      cause.failure = target.failure();
      cause.beside_first = beside_first;
      const bool goes_on = try_prefixes(laboratory, scores, target, cause);
      if (!cause.points.empty()) result.causes.push_back(cause);
      if (!goes_on) return result;
      if (beside_first || cause.points.empty()) break;
      leave_out(laboratory, cause.points, design);
    }
  }
  return result;
}

}  // namespace clew
