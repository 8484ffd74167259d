#include "host/cases/trial.h"

#include <algorithm>
#include <utility>

#include "host/cases/steering.h"
#include "host/search/sampling.h"

namespace clew {
namespace {

constexpr std::size_t kMostRunsForStacks = 3;
constexpr std::size_t kMostSteps = 200'000;  // of a run that is looked at
constexpr std::size_t kMostSteering = 96;
constexpr std::size_t kMostKept = 24;                   // runs with the order, of each verdict
constexpr std::size_t kMostUnorderedSteps = 1'000'000;  // of runs without it, together

class Trying {
 public:
  Trying(const Case& one, const EventSites& sites, Survey& survey, Until until)
      : case_(one), sites_(sites), survey_(survey), until_(until) {}

  Result<Tally> run(std::size_t most) {
    for (const LabRun& run : survey_.runs()) take(run, Known::kYes);
    const bool unplaced = std::ranges::any_of(sites_, [](const auto& s) { return s.empty(); });
    if (enough() || case_.orders.empty() || unplaced) return std::move(tally_);
    std::vector<JobPlan> plans;
    for (std::size_t i = 0; i < std::min<std::size_t>(survey_.runs().size(), 6); ++i)
      for (JobPlan& plan : steering_plans(case_, sites_, survey_.traced(survey_.runs()[i]),
                                          kMostSteering / (i + 1)))
        if (plans.size() < kMostSteering && std::ranges::find(plans, plan) == plans.end())
          plans.push_back(std::move(plan));
    if (plans.size() > most) plans.resize(most);
    std::vector<JobPlan> choosing = with_choices(plans);
    const std::size_t left = most - plans.size();
    CLEW_CHECK_OK(make(std::move(plans)));
    if (!enough() && tally_.with_order == 0) CLEW_CHECK_OK(make(std::move(choosing)));
    if (enough()) return std::move(tally_);
    // In a run with the order others may be steered for that the survey did not have.
    if (tally_.with_order == 0) {
      CLEW_CHECK_OK(
          make(preferring_plans(case_, sites_, survey_.sites(), survey_.lab().options().seed,
                                std::min<std::size_t>(left / 2, 100))));
      if (!enough() && tally_.with_order == 0)
        CLEW_CHECK_OK(make(sample_plans(survey_.lab().options().seed + 77, left / 2, length())));
    }
    return std::move(tally_);
  }

 private:
  // The order may need a wait that times out, or a trylock that fails.
  [[nodiscard]] std::vector<JobPlan> with_choices(const std::vector<JobPlan>& plans) const {
    std::vector<JobPlan> some(plans.begin(), plans.begin() + std::ssize(plans) / 2);
    for (std::size_t i = 0; i < some.size(); ++i)
      some[i].parameters[abi::kChoiceSeed] = job_seed(survey_.lab().options().seed, i) | 1;
    return some;
  }
  [[nodiscard]] std::uint64_t length() const {
    std::uint64_t longest = 0;
    for (const LabRun& run : survey_.runs())
      longest = std::max(longest, run.result.scheduling_points);
    return longest;
  }
  [[nodiscard]] bool enough() const {
    return (until_ == Until::kFailing && tally_.failing) || survey_.lab().time_is_up();
  }
  Result<void> make(std::vector<JobPlan> plans) {
    return survey_.lab().run(std::move(plans), [&](LabRun&& run) {
      take(run, Known::kNo);
      return !enough();
    });
  }

  enum class Known : std::uint8_t { kYes, kNo };
  void take(const LabRun& run, Known known) {
    ++tally_.runs;
    if (run.verdict == Verdict::kUnresolved) return;
    const bool failed = run.verdict == Verdict::kFail;
    const bool placed = std::ranges::none_of(sites_, [](const auto& s) { return s.empty(); });
    const bool ordered =
        run.steps.size() <= kMostSteps && placed && find_match(case_, sites_, survey_.traced(run));
    if (!ordered) {
      tally_.failed_otherwise += failed;
      if (failed && !tally_.failing_otherwise) tally_.failing_otherwise = run;
      unordered_steps_ += run.steps.size();
      if (known == Known::kNo && unordered_steps_ <= kMostUnorderedSteps)
        tally_.unordered.push_back(run);
      return;
    }
    ++tally_.with_order;
    tally_.failed += failed;
    const std::uint64_t alike = failed ? tally_.failed : tally_.with_order - tally_.failed;
    if (known == Known::kNo && alike <= kMostKept) tally_.ordered.push_back(run);
    auto& kept = failed ? tally_.failing : tally_.passing;
    if (!kept) kept = run;
  }

  const Case& case_;
  const EventSites& sites_;
  Survey& survey_;
  Until until_;
  Tally tally_;
  std::size_t unordered_steps_ = 0;
};

}  // namespace

Result<void> Survey::add(LabRun run) {
  if (run.steps.size() > kMostSteps) run.steps.resize(kMostSteps);
  CLEW_TRY(const bool learned, lab_.learn_sites(run, sites_));
  (void)learned;
  runs_.push_back(std::move(run));
  return {};
}

Result<void> Survey::make(std::size_t count) {
  std::vector<LabRun> made;
  const LabListener keep = [&](LabRun&& run) {
    if (run.steps.size() > kMostSteps) run.steps.resize(kMostSteps);
    made.push_back(std::move(run));
    return true;
  };
  CLEW_CHECK_OK(lab_.run({default_plan()}, keep));
  if (made.empty()) return {};
  CLEW_CHECK_OK(lab_.run(
      sample_plans(lab_.options().seed, count, made.front().result.scheduling_points), keep));
  // Stacks of the first, and of those that have places which none had before.
  std::size_t asked = 0;
  for (const LabRun& run : made) {
    const std::vector<SiteId> sites = sites_.of(run.steps);
    bool news = asked == 0;
    for (std::size_t i = 0; i < sites.size() && !news; ++i)
      news = sites[i] == kNoSite && run.steps[i].place != 0 &&
             anchor_word(run.steps[i].kind) != nullptr;
    if (!news || asked == kMostRunsForStacks) continue;
    ++asked;
    CLEW_TRY(const bool learned, lab_.learn_sites(run, sites_));
    (void)learned;
  }
  for (LabRun& run : made) runs_.push_back(std::move(run));
  return {};
}

TracedRun Survey::traced(const LabRun& run) const {
  return {run.steps, sites_.of(run.steps), run.verdict == Verdict::kFail};
}

void Survey::learn(const LabRun& run, std::shared_ptr<const RunResult> result) {
  sites_.add(run.steps, std::move(result));
}

std::vector<Placed> place_events(const Case& one, const Sites& sites) {
  std::vector<Placed> placed;
  for (const CaseEvent& event : one.events) placed.push_back(place_anchor(event.at, sites));
  return placed;
}

EventSites sites_of(const std::vector<Placed>& placed) {
  EventSites sites;
  for (const Placed& one : placed) sites.push_back(one.sites);
  return sites;
}

Result<Tally> try_case(const Case& one, const EventSites& sites, Survey& survey, Until until,
                       std::size_t most) {
  return Trying(one, sites, survey, until).run(most);
}

}  // namespace clew
