// Active sampling, the paper's future work (section 6): samples that depend on what was seen.
//
//  1. Screening: samples of half of the points, a few runs each, until the failure has been seen
//     often enough to tell points apart, or nothing has been seen for long.
//  2. Successive halving: the half of the points that goes least with failing is left without noise,
//     and samples of the rest are run. What less noise does to the bug is thus seen on the way: it
//     shows more often, as too much noise hides it. If it shows less often, too much was left out.
//  3. When few are left, single points, pairs and triples race: all are run a few times, the better
//     half twice as often, and so on. That is how interactions are seen that no score shows.
//  4. The best is confirmed: the answer fails more often than without any of its points, with a
//     stated probability.
//  5. Further samples of half of the points sharpen the scores, which the edges are made of.
//
// Successive halving (Jamieson, Talwalkar 2016) was chosen over Bayesian designs: it needs no model
// of how points interact, and bugs are not monotonic. bench/pinpoint has what it needs.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "host/noise/algorithm.h"
#include "host/noise/design.h"

namespace clew {
namespace {

// All chosen, then checked on the programs in bench/pinpoint.
constexpr std::uint32_t kRuns = 8;            // of a sample
constexpr std::size_t kScreenBatch = 24;      // samples
constexpr std::size_t kMostScreen = 384;      // samples
constexpr std::uint64_t kEnoughFailing = 80;  // runs
// What shows seldom is sampled further, until the points that matter are likely among the better half.
constexpr std::size_t kMostScreenOfRare = 1536;  // samples
constexpr std::uint64_t kEnoughOfRare = 24;      // runs
constexpr std::size_t kHalvingSamples = 24;
constexpr std::size_t kRacing = 8;  // points
constexpr std::uint32_t kRaceRuns = 8;
constexpr std::size_t kFinalists = 6;
constexpr int kMostRetreats = 3;
// If noise at half of the points shows nothing: of so many samples each, with fewer and fewer points.
constexpr std::size_t kSparseSamples = 100;
constexpr std::uint64_t kSparse[]{4, 10, 25};  // one point in so many
constexpr double kAsGood = 0.8;
constexpr std::size_t kDesignSamples = 700;
// A point that was seen in a race, or in an inversion of locks, is preferred to one that was not by
// half a standard deviation.
constexpr double kPrior = 0.5;

// How much more often samples with the point fail, in standard deviations.
std::vector<double> effects(std::span<const Sample> samples, const std::vector<std::uint32_t>& of,
                            const Target& target) {
  std::vector<double> result;
  for (const std::uint32_t point : of) {
    double count[2]{}, sum[2]{}, squares[2]{};
    for (const Sample& sample : samples) {
      if (sample.runs == 0) continue;
      const int with = sample.points.has(point) ? 1 : 0;
      const double rate = static_cast<double>(target(sample)) / sample.runs;
      count[with] += 1, sum[with] += rate, squares[with] += rate * rate;
    }
    if (count[0] < 2 || count[1] < 2) {
      result.push_back(0);
      continue;
    }
    double variance = 1e-9;
    for (const int with : {0, 1}) {
      const double mean = sum[with] / count[with];
      variance += (squares[with] / count[with] - mean * mean) / count[with];
    }
    result.push_back((sum[1] / count[1] - sum[0] / count[0]) / std::sqrt(variance));
  }
  return result;
}

Rate rate_of(std::span<const Sample> samples, const Target& target) {
  Rate rate;
  for (const Sample& sample : samples) rate.add(sample, target);
  return rate;
}

class Active {
 public:
  Active(Laboratory& laboratory, const SearchOptions& options)
      : lab_(laboratory), options_(options), random_(mix(laboratory.seed(), 0xac71)) {}

  SearchResult run() {
    if (!screen()) return std::move(result_);
    std::size_t causes = 0;
    for (const Target& target : targets(lab_.all(), options_.one_kind)) {
      if (causes++ == kMostCauses || !look_for(target)) break;
    }
    lab_.say("sharpening the scores", 0);
    const std::size_t wanted = options_.samples != 0 ? options_.samples : kDesignSamples;
    if (designed_ < wanted && !result_.causes.empty()) (void)sample_half(wanted - designed_);
    return std::move(result_);
  }

 private:
  Subset half_of(const std::vector<std::uint32_t>& points) {
    Subset subset(lab_.points());
    for (const std::uint32_t point : points)
      if (random_.below(2) == 0) subset.add(point);
    return subset;
  }

  bool sample_half(std::size_t count) {
    std::vector<std::uint32_t> everything(lab_.points());
    std::iota(everything.begin(), everything.end(), 0u);
    std::vector<Sample> batch;
    for (std::size_t i = 0; i < count; ++i)
      batch.push_back({half_of(everything), runs(), SamplePurpose::kDesign});
    designed_ += count;
    return run_in_batches(lab_, std::move(batch));
  }
  std::uint32_t runs() const { return options_.runs != 0 ? options_.runs : kRuns; }

  bool screen() {
    lab_.say("screening", 0);
    const std::size_t least = std::min(kMostScreen, std::max<std::size_t>(72, lab_.points()));
    while (designed_ < kMostScreenOfRare) {
      if (!sample_half(kScreenBatch)) return false;
      const auto seen = targets(lab_.all(), options_.one_kind);
      const std::uint64_t failed = seen.empty() ? 0 : rate_of(lab_.all(), seen.front()).failed;
      if (designed_ >= least && failed >= kEnoughFailing) break;
      if (designed_ >= kMostScreen && (failed == 0 || failed >= kEnoughOfRare)) break;
    }
    const bool nothing = targets(screened(), options_.one_kind).empty();
    return !nothing || sample_sparsely();
  }

  // Too much noise may hide what little shows.
  bool sample_sparsely() {
    lab_.say("screening with less noise", 0);
    std::vector<Sample> batch;
    for (const std::uint64_t one_in : kSparse)
      for (std::size_t i = 0; i < kSparseSamples; ++i) {
        Subset subset(lab_.points());
        for (std::size_t point = 0; point < lab_.points(); ++point)
          if (random_.below(one_in) == 0) subset.add(point);
        batch.push_back({std::move(subset), runs(), SamplePurpose::kSearch});
      }
    return run_in_batches(lab_, std::move(batch));
  }

  std::vector<Sample> screened() const {
    std::vector<Sample> result;
    for (const Sample& sample : lab_.all())
      if (sample.purpose == SamplePurpose::kDesign) result.push_back(sample);
    return result;
  }
  // Those that tell anything about the failure.
  std::vector<Sample> telling(const Target& target) const {
    std::vector<Sample> result = screened();
    if (rate_of(result, target).failed == 0) result.assign(lab_.all().begin(), lab_.all().end());
    return result;
  }

  // False: told to stop.
  bool look_for(const Target& target) {
    NoiseCause cause;
    cause.failure = target.failure();
    explained_.clear();
    std::vector<Sample> samples = telling(target);
    for (const bool beside_first : {false, true}) {
      if (rate_of(samples, target).failed == 0) return true;
      lab_.say(beside_first ? "looking for a second cause" : "halving", 0);
      if (beside_first &&
          !score(samples, lab_.points(), target, options_.threshold).some_stand_apart())
        return true;
      if (!halve(std::move(samples), target)) return false;
      lab_.say("comparing sets of points", 0);
      if (!race(target, cause.points)) return false;
      if (cause.points.empty()) return true;
      lab_.say("confirming", 0);
      cause.beside_first = beside_first;
      const bool goes_on = confirm(lab_, cause, target);
      if (cause.is_tenable()) result_.causes.push_back(cause);
      if (!goes_on) return false;
      explained_ = cause.points;
      samples = screened();
      leave_out(lab_, cause.points, samples);
      cause.points.clear();
      cause.rate = {};
      cause.without_each.clear();
    }
    return true;
  }

  void rank(std::vector<std::uint32_t>& points) {
    const auto weight = [&](std::uint32_t point) {
      return evidence_[point] / std::sqrt(std::max(1.0, looks_[point])) +
             (lab_.is_suspect(point) ? kPrior : 0);
    };
    std::ranges::sort(points, {},
                      [&](std::uint32_t point) { return std::pair(-weight(point), point); });
  }
  void weigh(std::span<const Sample> samples, const std::vector<std::uint32_t>& points,
             const Target& target) {
    const auto seen = effects(samples, points, target);
    for (std::size_t i = 0; i < points.size(); ++i) {
      evidence_[points[i]] += seen[i];
      looks_[points[i]] += 1;
    }
  }

  bool halve(std::vector<Sample> samples, const Target& target) {
    left_.clear();
    for (std::uint32_t i = 0; i < lab_.points(); ++i)
      if (lab_.may_answer(i) && std::ranges::find(explained_, i) == explained_.end())
        left_.push_back(i);
    evidence_.assign(lab_.points(), 0);
    looks_.assign(lab_.points(), 0);
    weigh(samples, left_, target);
    Rate before = rate_of(samples, target);
    int retreats = 0;
    for (double share = 0.5; left_.size() > kRacing;) {
      rank(left_);
      auto kept = left_;
      kept.resize(
          std::max(kRacing, static_cast<std::size_t>(static_cast<double>(left_.size()) * share)));
      if (kept.size() == left_.size()) kept.pop_back();
      std::vector<Sample> batch;
      for (std::size_t i = 0; i < kHalvingSamples; ++i)
        batch.push_back({half_of(kept), runs(), SamplePurpose::kSearch});
      const auto ran = lab_.run(std::move(batch));
      if (ran.empty()) return false;
      const Rate now = rate_of(ran, target);
      if (probability_higher(before, now) > 0.98 && retreats++ < kMostRetreats) {
        // Something that is needed was left out: look again at all, and leave out fewer.
        share = (1 + share) / 2;
        weigh(ran, kept, target);
        continue;
      }
      share = 0.5;
      left_ = std::move(kept);
      weigh(ran, left_, target);
      before = now;
    }
    rank(left_);
    return true;
  }

  struct Entry {
    std::vector<std::uint32_t> points;
    Rate rate;
    std::size_t rank = 0;  // by evidence
  };

  // Single points, pairs and triples of those that are left; the best is `best`.
  bool race(const Target& target, std::vector<std::uint32_t>& best) {
    std::vector<Entry> entries;
    const auto n = static_cast<std::uint32_t>(left_.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      entries.push_back({{left_[i]}, {}, i});
      for (std::uint32_t j = i + 1; j < n; ++j) {
        entries.push_back({{left_[i], left_[j]}, {}, i + j});
        for (std::uint32_t k = j + 1; k < n; ++k)
          entries.push_back({{left_[i], left_[j], left_[k]}, {}, i + j + k});
      }
    }
    std::vector<Entry> out;  // of the race
    for (std::uint32_t runs = kRaceRuns;; runs *= 2) {
      std::vector<Sample> batch;
      for (const Entry& entry : entries)
        batch.push_back({Subset(lab_.points(), entry.points), runs, SamplePurpose::kSearch});
      const auto ran = lab_.run(std::move(batch));
      if (ran.empty()) return false;
      for (std::size_t i = 0; i < entries.size(); ++i) entries[i].rate.add(ran[i], target);
      std::ranges::sort(entries, {}, [](const Entry& entry) {
        return std::tuple(-entry.rate.value(), entry.points.size(), entry.rank, entry.points);
      });
      if (entries.size() <= kFinalists) break;
      const std::size_t keep = std::max(kFinalists, entries.size() / 2);
      out.insert(out.end(), entries.begin() + static_cast<std::ptrdiff_t>(keep), entries.end());
      entries.resize(keep);
    }
    if (entries.front().rate.failed == 0) return true;
    const double highest = entries.front().rate.value();
    const Entry* chosen = &entries.front();
    for (const Entry& entry : entries)
      if (entry.rate.value() >= kAsGood * highest && entry.points.size() < chosen->points.size())
        chosen = &entry;
    best = chosen->points;
    return true;
  }

  Laboratory& lab_;
  const SearchOptions& options_;
  Random random_;
  SearchResult result_;
  std::size_t designed_ = 0;
  std::vector<std::uint32_t> explained_;  // the points of the failure's first cause
  std::vector<std::uint32_t> left_;
  std::vector<double> evidence_, looks_;  // by point
};

}  // namespace

SearchResult search_active(Laboratory& laboratory, const SearchOptions& options) {
  return Active(laboratory, options).run();
}

}  // namespace clew
