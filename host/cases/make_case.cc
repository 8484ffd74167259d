#include "host/cases/make_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "host/cases/candidates.h"
#include "host/cases/lab.h"
#include "host/cases/matching.h"
#include "host/cases/other_names.h"
#include "host/explain/explain.h"
#include "host/isolate/trials.h"
#include "host/recording/file.h"
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
constexpr std::size_t kMostTests = 16;
constexpr std::size_t kMostOrders = 6;
constexpr std::size_t kMostAtOnce = 8;
constexpr std::size_t kMostPassing = 6;  // runs that the failing one is compared with
constexpr double kMostExplaining = 10;   // seconds
constexpr std::uint64_t kMostInput = std::uint64_t{64} << 20;  // bytes of a file beside the tests
// With fewer runs that have the order nothing can be said about it.
constexpr std::uint64_t kFewRuns = 2;

// A set of orders, and what the runs that had them did.
struct Judged {
  std::vector<std::size_t> orders = {};  // candidates
  std::uint64_t with_order = 0;
  std::uint64_t failed = 0;
  [[nodiscard]] double rate() const {
    return with_order == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(with_order);
  }
  [[nodiscard]] bool suffices() const { return with_order >= kFewRuns && failed == with_order; }
};

class Making {
 public:
  Making(const MakeOptions& options, RecordingStore& store, MakeObserver& observer)
      : options_(options), store_(store), observer_(observer), started_(seconds_now()) {}

  Result<MadeCase> run() {
    CLEW_CHECK_OK(isolate_failure());
    if (made_.interrupted_by != 0) return std::move(made_);
    CLEW_TRY(auto replay, prepare_replay(std::to_string(failing_number_)));
    CLEW_TRY(auto schedule, to_schedule(replay.plan.follow));
    CLEW_CHECK_OK(describe_program(replay.recording));
    explain_failure(replay);
    if (made_.interrupted_by != 0) return std::move(made_);

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
    made_.has_handler = (failing->result.uncovered & abi::kUncoveredHandlers) != 0;
    CLEW_CHECK_OK(survey.add(std::move(*failing)));
    CLEW_TRY(auto passing, traced_passing(lab));
    if (passing) CLEW_CHECK_OK(survey.add(*passing));
    CLEW_CHECK_OK(survey.make(kSamples));
    CLEW_TRY(pool_, similar_runs(survey, schedule));
    for (const LabRun& run : survey.runs()) pool_.push_back(run);
    const auto is_passing = [](const LabRun& run) { return run.verdict == Verdict::kPass; };
    if (!passing && std::ranges::none_of(pool_, is_passing)) {
      made_.proof = MadeCase::Proof::kAlways;
      made_.with_order = made_.failed = pool_.size();
    } else {
      CLEW_CHECK_OK(choose(survey, passing));
    }
    made_.made.beside = variables_beside(made_.made, survey.sites());
    made_.runs += lab.runs();
    made_.interrupted_by = lab.interrupted_by();
    made_.out_of_time = lab.time_is_up();
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
    made_.interrupted_by = isolated.interrupted_by;
    if (made_.interrupted_by != 0) return {};
    made_.recording = isolated.original;
    made_.runs = isolated.tests;
    failing_number_ = isolated.failing ? *isolated.failing : isolated.original;
    passing_number_ = isolated.passing;
    // Clocks of the pair are those of the run that was recorded last.
    if (isolated.failing) pair_ = isolated.pair;
    return {};
  }

  // A quarter of what there is: the isolation may have taken half.
  [[nodiscard]] double explaining_seconds() const {
    return options_.seconds > 0 ? std::min(kMostExplaining, options_.seconds / 4) : kMostExplaining;
  }

  // What cannot be explained has other candidates.
  void explain_failure(const Replay& failing) {
    if (!passing_number_) return;
    const auto passing = prepare_replay(std::to_string(*passing_number_));
    if (!passing) return;
    class Limited final : public RunObserver {
     public:
      explicit Limited(double seconds) : until_(seconds_now() + seconds) {}
      bool time_is_up() override { return seconds_now() > until_; }

     private:
      double until_;
    } limited(explaining_seconds());
    ExplainOptions untested;
    untested.limits.tests = 0;
    const auto explained = explain(failing, *passing, untested, limited);
    if (explained) made_.interrupted_by = explained->interrupted_by;
    if (explained && explained->cause.pattern != CausePattern::kNone) cause_ = explained->cause;
  }

  Result<void> describe_program(const Recording& recording) {
    CLEW_TRY(const auto original, store_.load(made_.recording != 0 ? std::to_string(made_.recording)
                                                                   : options_.recording));
    const Meta& meta = original.meta;
    if (meta.stdin_data) {
      CLEW_TRY(made_.input, read_file(original.stdin_file(), kMostInput, Whose::kOwn));
    }
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

  // Whether each run of the pool has the order of a candidate; those before `from` are known.
  void compare(Survey& survey, std::size_t from) {
    for (std::size_t i = from; i < pool_.size(); ++i)
      of_pool_.push_back(survey.sites().of(pool_[i].steps));
    for (std::size_t c = 0; c < candidates_.all.size(); ++c) {
      const Case one = case_of({c}, survey);
      const EventSites sites = sites_of(place_events(one, survey.sites()));
      for (std::size_t i = from; i < pool_.size(); ++i) {
        const bool failed = pool_[i].verdict == Verdict::kFail;
        has_[c].push_back(
            find_match(one, sites, {pool_[i].steps, of_pool_[i], failed}).has_value());
      }
    }
  }

  [[nodiscard]] Case case_of(const std::vector<std::size_t>& orders, const Survey& survey) const {
    Case one = made_.made;
    std::vector<OrderCandidate> chosen;
    for (const std::size_t c : orders) chosen.push_back(candidates_.all[c]);
    describe(chosen, candidates_, survey.sites(), one);
    return one;
  }

  // Orders are added, first the one with which the most runs that have them fail, until all do.
  [[nodiscard]] std::vector<std::size_t> best_of_pool() const {
    std::vector<std::size_t> chosen;
    std::vector<bool> left(pool_.size());
    for (std::size_t i = 0; i < pool_.size(); ++i)
      left[i] = pool_[i].verdict != Verdict::kUnresolved;
    std::uint64_t passing_left = UINT64_MAX;
    while (chosen.size() < kMostOrders && passing_left > 0) {
      std::optional<std::size_t> best;
      std::tuple<double, std::uint64_t> best_score{};
      std::uint64_t best_passing = 0;
      for (std::size_t c = 0; c < candidates_.all.size(); ++c) {
        std::uint64_t failed = 0;
        std::uint64_t passed = 0;
        for (std::size_t i = 0; i < pool_.size(); ++i)
          if (left[i] && has_[c][i]) ++(pool_[i].verdict == Verdict::kFail ? failed : passed);
        if (failed == 0 || passed >= passing_left) continue;
        const std::tuple score{static_cast<double>(failed) / static_cast<double>(failed + passed),
                               std::min(failed, kFewRuns)};
        if (best && score <= best_score) continue;
        best = c;
        best_score = score;
        best_passing = passed;
      }
      if (!best) break;
      chosen.push_back(*best);
      passing_left = best_passing;
      for (std::size_t i = 0; i < pool_.size(); ++i) left[i] = left[i] && has_[*best][i];
    }
    return chosen;
  }

  // Steered for: whether the failure follows. What the runs did is known from then on.
  Result<Judged> test(const std::vector<std::size_t>& orders, Survey& survey) {
    const Case one = case_of(orders, survey);
    CLEW_TRY(auto tally, try_case(one, sites_of(place_events(one, survey.sites())), survey,
                                  Until::kEnd, kSteered));
    const std::size_t from = pool_.size();
    for (LabRun& run : tally.ordered) pool_.push_back(std::move(run));
    compare(survey, from);
    return Judged{orders, tally.with_order, tally.failed};
  }

  Result<void> choose(Survey& survey, const std::optional<LabRun>& passing) {
    const LabRun& failing = survey.runs().front();
    std::vector<const LabRun*> others;
    if (passing) others.push_back(&*passing);
    // The run without preemptions, which differs the most.
    for (const LabRun& run : survey.runs())
      if (run.verdict == Verdict::kPass && run.plan.guide.empty() &&
          run.plan.strategy == abi::StrategyKind::kPlan)
        others.push_back(&run);
    for (const LabRun& run : pool_)
      if (run.verdict == Verdict::kPass && others.size() < kMostPassing) others.push_back(&run);
    candidates_ = order_candidates(failing, survey.sites(), others, pair_, cause_);
    made_.candidates = candidates_.all.size();
    has_.resize(candidates_.all.size());
    compare(survey, 0);
    Judged best;
    for (const std::vector<std::size_t>& cycle : candidates_.cycles) {
      CLEW_TRY(auto tested, test(cycle, survey));
      if (tested.rate() > best.rate() || tested.suffices()) best = std::move(tested);
      if (best.suffices()) break;
    }
    std::set<std::vector<std::size_t>> tried;
    for (std::size_t i = 0; !best.suffices() && i < kMostTests && !survey.lab().time_is_up(); ++i) {
      std::vector<std::size_t> orders = best_of_pool();
      if (orders.empty() || !tried.insert(orders).second) break;
      CLEW_TRY(auto tested, test(orders, survey));
      if (best.orders.empty() || tested.rate() > best.rate() || tested.suffices())
        best = std::move(tested);
      if (best.suffices()) break;
    }
    if (!best.suffices()) CLEW_CHECK_OK(try_all(survey, best));
    CLEW_CHECK_OK(take_away(survey, best));
    made_.made = case_of(best.orders, survey);
    if (best.failed > 0) {
      made_.made.with_order = best.with_order;
      made_.made.failed = best.failed;
    }
    made_.with_order = best.with_order;
    made_.failed = best.failed;
    made_.proof = best.orders.empty() || best.failed == 0 ? MadeCase::Proof::kNotSeen
                  : best.suffices()                       ? MadeCase::Proof::kSuffices
                                                          : MadeCase::Proof::kSometimes;
    return {};
  }

  // Where threads execute the same code, one order says little and all of them together may.
  Result<void> try_all(Survey& survey, Judged& best) {
    for (const bool counted : {false, true}) {
      std::vector<std::size_t> all;
      for (std::size_t c = 0; c < candidates_.all.size() && all.size() < kMostAtOnce; ++c)
        if (candidates_.all[c].kind == CaseOrder::Kind::kBefore &&
            candidates_.all[c].counted == counted)
          all.push_back(c);
      if (all.size() < 2 || best.suffices() || survey.lab().time_is_up()) break;
      CLEW_TRY(auto tested, test(all, survey));
      if (tested.rate() > best.rate()) best = std::move(tested);
    }
    return {};
  }

  // Orders without which every run that has the others still fails.
  Result<void> take_away(Survey& survey, Judged& best) {
    for (std::size_t i = 0; best.suffices() && best.orders.size() > 1 && i < best.orders.size();) {
      std::vector<std::size_t> fewer = best.orders;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      CLEW_TRY(auto tested, test(fewer, survey));
      if (tested.suffices())
        best = std::move(tested);
      else
        ++i;
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
  std::optional<Cause> cause_;
  std::vector<LabRun> pool_;
  std::vector<std::vector<SiteId>> of_pool_;
  OrderCandidates candidates_;
  std::vector<std::vector<bool>> has_;  // of each candidate: whether the runs of the pool have it
};

}  // namespace

Result<MadeCase> make_case(const MakeOptions& options, RecordingStore& store,
                           MakeObserver& observer) {
  return Making(options, store, observer).run();
}

}  // namespace clew
