#include "host/isolate/simplify.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace clew {
namespace {

using Subset = std::vector<std::size_t>;

// The parts of a granularity are tried so many at a time: those behind one that fails are in vain.
// Chosen, not measured.
constexpr std::size_t kAtATime = 8;

std::vector<Subset> split(const Subset& items, std::size_t count) {
  std::vector<Subset> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = begin + (items.size() - begin) / (count - i);
    parts.emplace_back(items.begin() + static_cast<std::ptrdiff_t>(begin),
                       items.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return parts;
}

Subset without(const Subset& items, const Subset& part) {
  Subset rest;
  std::ranges::set_difference(items, part, std::back_inserter(rest));
  return rest;
}

// The position of the first part that fails; the number of parts: none does; nothing: stopped.
Result<std::optional<std::size_t>> first_failing(const std::vector<Subset>& parts,
                                                 const FailsTogether& fails) {
  for (std::size_t begin = 0; begin < parts.size(); begin += kAtATime) {
    const std::size_t end = std::min(begin + kAtATime, parts.size());
    CLEW_TRY(const auto answers, fails({parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                        parts.begin() + static_cast<std::ptrdiff_t>(end)}));
    if (answers.empty()) return std::nullopt;
    const auto found = std::ranges::find(answers, true);
    if (found != answers.end()) return begin + static_cast<std::size_t>(found - answers.begin());
  }
  return parts.size();
}

}  // namespace

Result<Reduced> reduce(std::size_t size, const FailsTogether& fails) {
  Subset items(size);
  std::iota(items.begin(), items.end(), std::size_t{0});
  if (items.empty()) return Reduced{items, true};
  // First, nothing at all.
  CLEW_TRY(auto nothing, first_failing({Subset{}}, fails));
  if (!nothing) return Reduced{items, false};
  if (*nothing == 0) return Reduced{{}, true};
  std::size_t granularity = 2;
  while (items.size() > 1) {
    granularity = std::min(granularity, items.size());
    const std::vector<Subset> subsets = split(items, granularity);
    CLEW_TRY(auto subset, first_failing(subsets, fails));
    if (!subset) return Reduced{items, false};
    if (*subset < subsets.size()) {
      items = subsets[*subset];
      granularity = 2;
      continue;
    }
    std::vector<Subset> complements;
    if (granularity > 2)
      for (const Subset& part : subsets) complements.push_back(without(items, part));
    CLEW_TRY(auto complement, first_failing(complements, fails));
    if (!complement) return Reduced{items, false};
    if (*complement < complements.size()) {
      items = complements[*complement];
      granularity = std::max<std::size_t>(granularity - 1, 2);
      continue;
    }
    if (granularity == items.size()) break;
    granularity *= 2;
  }
  return Reduced{items, true};
}

Result<Simplified> simplify(Trials& trials, ThreadScript script, Verdict verdict) {
  const auto script_of = [&](const Subset& items) {
    ThreadScript part;
    for (const std::size_t at : items) part.push_back(script[at]);
    return part;
  };
  const FailsTogether fails = [&](const std::vector<Subset>& parts) -> Result<std::vector<bool>> {
    std::vector<JobPlan> plans;
    for (const Subset& part : parts) plans.push_back(job_of(script_of(part)));
    CLEW_TRY(const auto runs, trials.run(plans));
    std::vector<bool> answers;
    for (const TrialRun& run : runs) answers.push_back(run.verdict == verdict);
    return answers;
  };
  CLEW_TRY(const auto reduced, reduce(script.size(), fails));
  return Simplified{script_of(reduced.kept), reduced.minimal};
}

}  // namespace clew
