#include "host/isolate/resample.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "clew_abi/guides.h"
#include "host/isolate/effort.h"
#include "host/isolate/simplify.h"
#include "host/search/sampling.h"
#include "host/search/surw_search.h"
#include "host/seconds.h"

namespace clew {
namespace {

// The limits are chosen, not measured: together they keep the search within seconds.
constexpr std::size_t kMostRuns = 3'000;
constexpr std::size_t kRound = 16;  // of each search
constexpr std::size_t kMostKept = 8;
constexpr std::uint32_t kHesitant = 25;  // percent, as in a hunt

struct FailingRun {
  std::pair<std::uint64_t, std::size_t> order;  // its preemptions; the number of the run
  JobPlan plan;
};

// Threads run until they are blocked; only the answers to questions are drawn: time-outs, who is woken,
// and the like.
class OnlyAnswers final : public Search {
 public:
  explicit OnlyAnswers(std::uint64_t seed) : random_(job_seed(seed, 0xa175)) {}

  std::vector<JobPlan> next(std::size_t most) override {
    std::vector<JobPlan> plans(most);
    for (JobPlan& plan : plans) {
      plan.strategy = abi::StrategyKind::kPlan;
      plan.parameters[abi::kChoiceSeed] = random_.next() | 1;
    }
    return plans;
  }
  void learn(const JobPlan&, const JobReport&) override {}
  std::string using_now() const override { return "answers"; }

 private:
  Random random_;
};

// The runs with the fewest preemptions of those that fail.
Result<std::vector<FailingRun>> sample(Trials& trials, std::uint64_t seed, double seconds) {
  std::vector<std::unique_ptr<Search>> searches;
  for (const std::uint32_t depth : {2u, 3u})
    searches.push_back(std::make_unique<SamplingSearch>(abi::StrategyKind::kPct, seed, depth));
  searches.push_back(std::make_unique<SamplingSearch>(abi::StrategyKind::kPos, seed, 0));
  searches.push_back(std::make_unique<SamplingSearch>(abi::StrategyKind::kRandom, seed, kHesitant));
  searches.push_back(std::make_unique<SurwSearch>(seed));
  const std::uint32_t pick = 1u << static_cast<unsigned>(abi::ChoiceKind::kPick);
  if ((trials.failure().result.questions & ~pick) != 0)
    searches.push_back(std::make_unique<OnlyAnswers>(seed));
  std::vector<FailingRun> kept;
  const double until = seconds_now() + seconds;
  for (std::size_t done = 0; done < kMostRuns && seconds_now() < until;) {
    const std::size_t before = done;
    for (const auto& search : searches) {
      std::vector<JobPlan> plans = search->next(kRound);
      for (JobPlan& plan : plans) plan.flags |= abi::kJobAllPoints;
      if (plans.empty()) continue;
      CLEW_TRY(auto runs, trials.run(plans));
      if (runs.empty()) return kept;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        TrialRun& run = runs[i];
        search->learn(plans[i], {run.result, run.verdict, true, std::move(run.trace)});
        if (run.verdict == Verdict::kFail)
          kept.push_back({{run.result.preemptions, done + i}, std::move(plans[i])});
      }
      done += runs.size();
    }
    std::ranges::sort(kept, {}, &FailingRun::order);
    if (kept.size() > kMostKept) kept.resize(kMostKept);
    if (done == before) break;
  }
  return kept;
}

}  // namespace

bool is_simpler(const ThreadScript& a, const ThreadScript& b) {
  return std::pair(a.size(), preemptions_of(a)) < std::pair(b.size(), preemptions_of(b));
}

Result<std::optional<ThreadScript>> simpler_elsewhere(Trials& trials, const ThreadScript& script,
                                                      std::uint64_t seed,
                                                      const ToScript& to_script) {
  CLEW_TRY(const auto failing, sample(trials, seed, seconds_to_try(script.size())));
  std::optional<ThreadScript> simplest;
  const double until = seconds_now() + seconds_to_try(script.size());
  for (const FailingRun& run : failing) {
    if (trials.stopped() || seconds_now() > until) break;
    CLEW_TRY(auto found, to_script(run.plan));
    if (!found) continue;
    CLEW_TRY(auto simple, simplify(trials, std::move(*found)));
    if (is_simpler(simple.script, simplest ? *simplest : script))
      simplest = std::move(simple.script);
  }
  return simplest;
}

}  // namespace clew
