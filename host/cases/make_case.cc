#include "host/cases/make_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "host/cases/candidates.h"
#include "host/cases/lab.h"
#include "host/cases/matching.h"
#include "host/isolate/trials.h"
#include "host/schedule/stream.h"
#include "host/search/fuzz_search.h"
#include "host/seconds.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// Runs that all candidates are judged by, before any is steered for; and runs to steer for one.
// Chosen, not measured: some hundred small runs take a second.
constexpr std::size_t kSamples = 90;
constexpr std::uint64_t kSimilar = 150;
constexpr std::size_t kSteered = 100;
constexpr std::size_t kMostSteeredCandidates = 14;
constexpr std::size_t kMostOrders = 4;
// With fewer runs that have the order nothing can be said about it.
constexpr std::uint64_t kFewRuns = 2;

struct Judged {
  std::vector<OrderCandidate> orders = {};
  std::uint64_t with_order = 0;
  std::uint64_t failed = 0;
  std::size_t position = 0;  // among the candidates: the most telling first
  [[nodiscard]] double rate() const {
    return with_order == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(with_order);
  }
};

class Making {
 public:
  Making(const MakeOptions& options, RecordingStore& store, MakeObserver& observer)
      : options_(options), store_(store), observer_(observer), started_(seconds_now()) {}

  Result<MadeCase> run() {
    CLEW_CHECK_OK(isolate_failure());
    CLEW_TRY(auto replay, prepare_replay(std::to_string(failing_number_)));
    CLEW_TRY(auto schedule, to_schedule(replay.plan.follow));
    CLEW_CHECK_OK(describe_program(replay.recording));

    LabOptions lab_options;
    lab_options.plan = live_plan(replay);
    lab_options.plan.follow = {};
    lab_options.plan.output = OutputMode::kCaptureOnly;
    lab_options.criteria = made_.made.criteria;
    lab_options.input = [&] { return HuntInput::of_recording(replay.recording); };
    lab_options.jobs = options_.jobs;
    lab_options.seed = options_.seed;
    if (options_.seconds > 0) lab_options.until = started_ + options_.seconds;
    Lab lab(std::move(lab_options), observer_);
    Survey survey(lab);
    CLEW_TRY(auto failing, traced(lab, schedule));
    if (!failing || failing->verdict != Verdict::kFail)
      return fail(ErrorCode::kBadInput, "the recording does not fail when it is run again",
                  "clew replay says how it departs");
    CLEW_CHECK_OK(survey.add(std::move(*failing)));
    CLEW_TRY(auto passing, traced_passing(lab));
    if (passing) CLEW_CHECK_OK(survey.add(*passing));
    CLEW_CHECK_OK(survey.make(kSamples));
    CLEW_TRY(auto pool, similar_runs(survey, schedule));
    for (const LabRun& run : survey.runs()) pool.push_back(run);
    if (!passing)
      for (const LabRun& run : pool)
        if (run.verdict == Verdict::kPass && !passing) passing = run;
    if (!passing) {
      made_.proof = MadeCase::Proof::kAlways;
      made_.with_order = made_.failed = pool.size();
    } else {
      CLEW_CHECK_OK(choose(survey, pool, passing));
    }
    made_.runs += lab.runs();
    made_.interrupted_by = lab.interrupted_by();
    made_.seconds = seconds_now() - started_;
    for (const std::string& note : lab.notes()) made_.notes.push_back(note);
    for (const std::string& file : survey.sites().missing_sources())
      made_.notes.push_back(
          fmt::format("the source {} is not there: its places have no text", file));
    return std::move(made_);
  }

 private:
  Result<void> isolate_failure() {
    IsolateOptions options;
    options.failing = options_.recording;
    options.criteria = options_.criteria;
    options.simplify = true;
    options.jobs = options_.jobs;
    options.seed = options_.seed;
    if (options_.seconds > 0) options.seconds = options_.seconds / 2;
    CLEW_TRY(auto isolated, isolate(options, store_, observer_));
    if (isolated.interrupted_by != 0)
      return fail(ErrorCode::kBadInput, "interrupted before there was a case");
    made_.recording = isolated.original;
    made_.runs = isolated.tests;
    failing_number_ = isolated.failing ? *isolated.failing : isolated.original;
    passing_number_ = isolated.passing;
    // Clocks of the pair are those of the run that was recorded last.
    if (isolated.failing) pair_ = isolated.pair;
    return {};
  }

  Result<void> describe_program(const Recording& recording) {
    CLEW_TRY(const auto original, store_.load(made_.recording != 0 ? std::to_string(made_.recording)
                                                                   : options_.recording));
    const Meta& meta = original.meta;
    Case& made = made_.made;
    made.program = recording.meta.program;
    made.arguments.assign(recording.meta.arguments.begin() +
                              std::min<std::ptrdiff_t>(1, std::ssize(recording.meta.arguments)),
                          recording.meta.arguments.end());
    made.criteria = options_.criteria;
    if (meta.judged && made.criteria == Criteria{}) made.criteria = meta.judged->criteria;
    if (meta.judged) {
      made.failure = meta.judged->kind;
      made.detail = meta.judged->detail;
    } else if (meta.summary.failure) {
      made.failure = meta.summary.failure->kind;
      made.detail = meta.summary.failure->detail;
    }
    made.found = meta.origin.line().empty() ? "clew run" : meta.origin.line();
    return {};
  }

  static Result<std::optional<LabRun>> traced(Lab& lab, const Schedule& schedule) {
    std::optional<LabRun> result;
    CLEW_CHECK_OK(lab.run({job_of(schedule)}, [&](LabRun&& run) {
      result = std::move(run);
      return false;
    }));
    return result;
  }

  Result<std::optional<LabRun>> traced_passing(Lab& lab) const {
    if (!passing_number_) return std::nullopt;
    CLEW_TRY(auto replay, prepare_replay(std::to_string(*passing_number_)));
    CLEW_TRY(auto schedule, to_schedule(replay.plan.follow));
    CLEW_TRY(auto run, traced(lab, schedule));
    if (run && run->verdict != Verdict::kPass) run.reset();
    return run;
  }

  Result<std::vector<LabRun>> similar_runs(Survey& survey, const Schedule& schedule) {
    std::vector<LabRun> runs;
    const std::uint64_t length = survey.runs().front().result.clock;
    CLEW_CHECK_OK(survey.lab().run(
        std::make_unique<FuzzSearch>(schedule, Verdict::kPass, length, options_.seed), kSimilar,
        [&](LabRun&& run) {
          if (run.complete) runs.push_back(std::move(run));
          return true;
        }));
    return runs;
  }

  // What the runs of the pool say about a set of orders.
  Judged judge(std::vector<OrderCandidate> orders, const Survey& survey,
               const std::vector<LabRun>& pool) {
    Case one = made_.made;
    describe(orders, survey.runs().front(), of_failing_, survey.sites(), one);
    const EventSites sites = sites_of(place_events(one, survey.sites()));
    Judged judged;
    judged.orders = std::move(orders);
    for (std::size_t i = 0; i < pool.size(); ++i) {
      if (pool[i].verdict == Verdict::kUnresolved) continue;
      const bool failed = pool[i].verdict == Verdict::kFail;
      if (!find_match(one, sites, {pool[i].steps, of_pool_[i], failed})) continue;
      ++judged.with_order;
      judged.failed += failed;
    }
    return judged;
  }

  // Steered for: whether the failure follows.
  Result<Judged> test(const Judged& judged, Survey& survey) {
    Case one = made_.made;
    describe(judged.orders, survey.runs().front(), of_failing_, survey.sites(), one);
    CLEW_TRY(auto tally, try_case(one, sites_of(place_events(one, survey.sites())), survey,
                                  Until::kEnd, kSteered));
    return Judged{judged.orders, judged.with_order + tally.with_order,
                  judged.failed + tally.failed};
  }

  Result<void> choose(Survey& survey, const std::vector<LabRun>& pool,
                      const std::optional<LabRun>& passing) {
    const LabRun& failing = survey.runs().front();
    of_failing_ = survey.sites().of(failing.steps);
    for (const LabRun& run : pool) of_pool_.push_back(survey.sites().of(run.steps));
    std::vector<Judged> singles;
    for (OrderCandidate& candidate : order_candidates(failing, of_failing_, passing, pair_)) {
      singles.push_back(judge({std::move(candidate)}, survey, pool));
      singles.back().position = singles.size();
    }
    made_.candidates = singles.size();
    // Its own run must have the order, else the words do not describe it.
    std::erase_if(singles, [](const Judged& one) { return one.failed == 0; });
    std::ranges::sort(singles, [](const Judged& a, const Judged& b) {
      return std::tuple(a.rate(), std::min(a.with_order, kFewRuns), b.position) >
             std::tuple(b.rate(), std::min(b.with_order, kFewRuns), a.position);
    });
    Judged best;
    CLEW_CHECK_OK(try_each(singles, survey, best));
    if (best.rate() < 1) CLEW_CHECK_OK(combine(singles, survey, pool, best));
    describe(best.orders, failing, of_failing_, survey.sites(), made_.made);
    made_.with_order = best.with_order;
    made_.failed = best.failed;
    made_.proof = best.orders.empty()  ? MadeCase::Proof::kNotSeen
                  : best.rate() >= 1.0 ? MadeCase::Proof::kSuffices
                                       : MadeCase::Proof::kSometimes;
    return {};
  }

  // The first that suffices, or the one after which most runs fail.
  Result<void> try_each(const std::vector<Judged>& sets, Survey& survey, Judged& best) {
    std::size_t tried = 0;
    for (const Judged& one : sets) {
      if (++tried > kMostSteeredCandidates || survey.lab().time_is_up()) break;
      CLEW_TRY(auto tested, test(one, survey));
      const bool better = tested.with_order >= kFewRuns && tested.rate() > best.rate();
      if (better || best.orders.empty()) best = std::move(tested);
      if (best.rate() >= 1 && best.with_order >= kFewRuns) break;
    }
    return {};
  }

  // Orders are added, that one first with which the most runs that have them fail, until all do;
  // then taken away again as long as all do.
  Result<void> combine(const std::vector<Judged>& singles, Survey& survey,
                       const std::vector<LabRun>& pool, Judged& best) {
    Judged now;
    while (now.orders.size() < kMostOrders && !survey.lab().time_is_up()) {
      Judged next;
      for (const Judged& one : singles) {
        std::vector<OrderCandidate> orders = now.orders;
        if (std::ranges::find(orders, one.orders[0]) != orders.end()) continue;
        orders.push_back(one.orders[0]);
        Judged judged = judge(std::move(orders), survey, pool);
        if (judged.failed > 0 && (next.orders.empty() || judged.rate() > next.rate()))
          next = std::move(judged);
      }
      if (next.orders.empty()) break;
      now = std::move(next);
      if (now.rate() < 1) continue;
      CLEW_TRY(auto tested, test(now, survey));
      if (tested.rate() > best.rate()) best = tested;
      if (tested.rate() >= 1) break;
    }
    for (std::size_t i = 0; best.rate() >= 1 && best.orders.size() > 1 && i < best.orders.size();) {
      Judged fewer = best;
      fewer.orders.erase(fewer.orders.begin() + static_cast<std::ptrdiff_t>(i));
      fewer = judge(std::move(fewer.orders), survey, pool);
      if (fewer.rate() >= 1) {
        CLEW_TRY(fewer, test(fewer, survey));
      }
      if (fewer.rate() >= 1 && fewer.with_order >= kFewRuns) {
        best = std::move(fewer);
      } else {
        ++i;
      }
    }
    return {};
  }

  const MakeOptions& options_;
  RecordingStore& store_;
  MakeObserver& observer_;
  double started_;
  MadeCase made_;
  std::uint64_t failing_number_ = 0;
  std::optional<std::uint64_t> passing_number_;
  std::optional<CriticalPair> pair_;
  std::vector<SiteId> of_failing_;
  std::vector<std::vector<SiteId>> of_pool_;
};

}  // namespace

Result<MadeCase> make_case(const MakeOptions& options, RecordingStore& store,
                           MakeObserver& observer) {
  return Making(options, store, observer).run();
}

}  // namespace clew
