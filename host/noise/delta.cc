// Delta debugging of the set of points with noise: dd (Zeller 1999, the paper's [26]) narrows the
// difference between no noise and a set that fails, ddmin (Zeller and Hildebrandt 2002, the paper's
// [27]) makes that set smaller. Both take it that a superset of a failing set fails; section 4 of the
// paper shows that programs are not like that, and these two are here to show it again.
#include <fmt/format.h>

#include <algorithm>

#include "host/isolate/dd.h"
#include "host/noise/algorithm.h"
#include "host/noise/design.h"

namespace clew {
namespace {

constexpr std::uint32_t kRuns = 20;
constexpr std::size_t kMostStarts = 200;  // sets tried for one that fails
constexpr std::uint64_t kMostTests = 2000;

class DeltaSearch {
 public:
  DeltaSearch(Laboratory& laboratory, const SearchOptions& options)
      : lab_(laboratory),
        runs_(options.runs != 0 ? options.runs : kRuns),
        threshold_(options.threshold.value_or(1)) {}

  SearchResult run(Delta kind) {
    lab_.say("looking for a set of points that fails", 0);
    if (!find_start()) {
      result_.remarks.push_back(
          "delta debugging had nothing to start from: no set of points failed");
      return std::move(result_);
    }
    const std::size_t at_first = failing_.size();
    lab_.say("delta debugging", 0);
    if (kind == Delta::kDd) {
      narrow();
    } else {
      minimize();
    }
    if (stopped_) return std::move(result_);
    NoiseCause cause;
    cause.points = kind == Delta::kDd ? difference_ : failing_;
    if (const auto rate = rate_alone(lab_, cause.points, 100, Target())) cause.rate = *rate;
    result_.remarks.push_back(
        fmt::format("delta debugging: {} tests of {} runs, from {} points to {}{}", tests_, runs_,
                    at_first, cause.points.size(),
                    cause.rate.failed == 0
                        ? "; with noise at these alone it did not fail in 100 runs: that more "
                          "noise fails where "
                          "less does, which delta debugging takes for granted, does not hold here"
                        : ""));
    if (cause.rate.failed > 0) result_.causes.push_back(std::move(cause));
    return std::move(result_);
  }

 private:
  bool fails(const std::vector<std::uint32_t>& points) {
    ++tests_;
    const auto ran = lab_.run({{Subset(lab_.points(), points), runs_, SamplePurpose::kSearch}});
    if (ran.empty()) stopped_ = true;
    return !stopped_ && ran.front().failed() >= threshold_;
  }

  // All points, or else any half of them.
  bool find_start() {
    failing_ = Subset::all(lab_.points()).members();
    if (fails(failing_)) return true;
    for (const Subset& half : random_design(lab_.points(), kMostStarts, lab_.seed())) {
      failing_ = half.members();
      if (stopped_ || fails(failing_)) return !stopped_;
    }
    return false;
  }

  class Oracle final : public DdOracle {
   public:
    explicit Oracle(DeltaSearch& search) : search_(search) {}
    Verdict test(const Counts& applied) override {
      return search_.fails(search_.chosen(applied)) ? Verdict::kFail : Verdict::kPass;
    }
    bool go_on() override { return !search_.stopped_; }

   private:
    DeltaSearch& search_;
  };
  std::vector<std::uint32_t> chosen(const Counts& applied) const {
    std::vector<std::uint32_t> points;
    for (std::size_t i = 0; i < applied.size(); ++i)
      if (applied[i] != 0) points.push_back(failing_[i]);
    return points;
  }
  void narrow() {
    Oracle oracle(*this);
    const DdResult found =
        dd(oracle, Counts(failing_.size(), 0), Counts(failing_.size(), 1), kMostTests);
    for (std::size_t i = 0; i < failing_.size(); ++i)
      if (found.failing[i] != found.passing[i]) difference_.push_back(failing_[i]);
  }

  void minimize() {
    for (std::size_t parts = 2; failing_.size() > 1 && !stopped_ && tests_ < kMostTests;) {
      parts = std::min(parts, failing_.size());
      if (reduce_to_part(parts)) {
        parts = 2;
      } else if (parts > 2 && reduce_to_rest(parts)) {
        parts = std::max<std::size_t>(parts - 1, 2);
      } else if (parts == failing_.size()) {
        return;
      } else {
        parts *= 2;
      }
    }
  }
  enum class Take : std::uint8_t { kPart, kRest };
  bool reduce(std::size_t parts, Take take) {
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t from = part * failing_.size() / parts;
      const std::size_t to = (part + 1) * failing_.size() / parts;
      std::vector<std::uint32_t> tried;
      for (std::size_t i = 0; i < failing_.size(); ++i)
        if ((i >= from && i < to) == (take == Take::kPart)) tried.push_back(failing_[i]);
      if (fails(tried)) {
        failing_ = std::move(tried);
        return true;
      }
      if (stopped_) return false;
    }
    return false;
  }
  bool reduce_to_part(std::size_t parts) { return reduce(parts, Take::kPart); }
  bool reduce_to_rest(std::size_t parts) { return reduce(parts, Take::kRest); }

  Laboratory& lab_;
  std::uint32_t runs_;
  std::uint32_t threshold_;
  SearchResult result_;
  std::vector<std::uint32_t> failing_;     // a set that failed
  std::vector<std::uint32_t> difference_;  // of dd
  std::uint64_t tests_ = 0;
  bool stopped_ = false;
};

}  // namespace

SearchResult search_delta(Laboratory& laboratory, const SearchOptions& options, Delta kind) {
  return DeltaSearch(laboratory, options).run(kind);
}

}  // namespace clew
