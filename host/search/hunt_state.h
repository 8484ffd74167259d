// A hunt while it runs. hunt.cc has its rounds, hunt_first_run.cc what the first run tells about the
// others, hunt_failures.cc what becomes of a run that fails, hunt_passing.cc the search for a passing schedule close to a failing one.
#ifndef CLEW_HOST_SEARCH_HUNT_STATE_H_
#define CLEW_HOST_SEARCH_HUNT_STATE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "host/search/fuzz_search.h"
#include "host/search/hunt.h"
#include "host/search/hunt_findings.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_recorder.h"
#include "host/search/loop_waits.h"
#include "host/search/make_search.h"
#include "host/seconds.h"
#include "host/target/interrupts.h"
#include "host/target/job_runner.h"
#include "host/time_limit.h"

namespace clew {

// Which yield points are known to touch what threads share.
class SharingMap {
 public:
  std::span<const std::uint8_t> bits() const { return bits_; }
  void add(const std::vector<std::uint32_t>& points) {
    for (const std::uint32_t point : points) {
      if (point / 8 >= bits_.size()) bits_.resize(point / 8 + 1);
      bits_[point / 8] |= static_cast<std::uint8_t>(1u << (point % 8));
    }
  }

 private:
  std::vector<std::uint8_t> bits_;
};

// Runs of a program in which no schedule can differ from another: the second and third show that
// they are the same. Chosen, not measured.
inline constexpr std::uint64_t kRunsIfNothingVaries = 3;

class Hunt {
 public:
  Hunt(const HuntOptions& options, RecordingStore& store, HuntObserver& observer,
       std::span<ReportListener* const> listeners, HuntInput input, Judge judge,
       std::unique_ptr<Search> search, std::optional<FuzzStart> start)
      : options_(options),
        observer_(observer),
        listeners_(listeners),
        input_(std::move(input)),
        judge_(std::move(judge)),
        search_(std::move(search)),
        start_(std::move(start)),
        plan_(plan_for(options)),
        recorder_(plan_, input_, store, judge_),
        limit_(TimeLimit::with_keeping(options.seconds)),
        started_(seconds_now()) {}

  Result<HuntResult> run();
  // The child processes with threads, if the program itself has none.
  Result<std::vector<std::uint32_t>> children();

 private:
  static LaunchPlan plan_for(const HuntOptions& options) {
    LaunchPlan plan = options.plan;
    plan.seed = options.seed;
    plan.flags |= abi::kFlagFromMain;
    return plan;
  }

  Result<void> choose_engine();
  // The first run, which is made again if it shows that all should be made in another way.
  Result<void> learn_from_first(std::span<const JobPlan> plans, std::vector<RanJob>& ran);
  Result<void> enter_child(std::span<const JobPlan> plans, std::vector<RanJob>& ran);
  Result<void> speed_up_clock(std::span<const JobPlan> plans, std::vector<RanJob>& ran);
  Result<void> run_as_planned_now(std::span<const JobPlan> plans, std::vector<RanJob>& ran);
  void leave_place(std::uint32_t call);
  void look_for_variety(const abi::JobResult& result);
  void note_processes();
  Result<bool> always_fails();
  // A search is told all of a round in order, or what comes before the first that is missing.
  void tell(ReportListener& search, const JobPlan& plan, const JobReport& report) const {
    if (!missing_) search.learn(plan, report);
    for (ReportListener* listener : listeners_) listener->learn(plan, report);
  }
  Result<void> run_jobs(std::span<const JobPlan> jobs, std::vector<RanJob>& ran);
  Result<void> round(std::size_t size);
  Result<void> take_all(std::span<const JobPlan> plans, std::span<RanJob> ran);
  Result<void> take(const JobPlan& plan, RanJob& ran);
  Result<void> unless_found(Result<void> done);
  Result<Judgement> judge(const RanJob& ran);
  // Of the failure: equal for the same one.
  static std::uint64_t key_of(const RanJob& ran, const Judgement& judgement);
  Result<void> failed(const JobPlan& plan, const RanJob& ran, const Judgement& judgement);
  Result<void> take_findings(const JobPlan& plan, const RanJob& ran);
  Result<void> tell_why_unresolved(const JobPlan& plan, const RanJob& ran,
                                   const Judgement& judgement);
  void note_unended(std::size_t round);
  Result<void> not_repeated(const Judgement& judgement);
  Result<void> raise_budget();
  Result<void> look_for_passing();
  Result<void> keep_what_search_wants();
  Result<bool> fuzz_for_passing(std::size_t most);
  Result<void> run_from_failing();
  Result<bool> keep_passing(const JobPlan& plan, std::string distance);
  ExactJob exact(const JobPlan& plan) const {
    return {plan, sharing_.bits(), options_.choices, pool_,
            Origin::hunt(result_.schedules, search_->using_now(), options_.seed)};
  }
  void note_files();
  // Of runs in separate processes that only say more.
  void limit_recorder(double seconds) {
    recorder_.set_until(options_.seconds > 0 ? 0 : seconds_now() + seconds);
  }
  bool pulse(std::uint64_t extra);
  bool found_enough() const { return !options_.keep_going && !result_.failures.empty(); }
  bool over() const {
    return interrupted_ || out_of_time_ || failed_ || found_enough() ||
           (options_.enough && options_.enough()) ||
           (options_.schedules != 0 && result_.schedules >= options_.schedules) ||
           (nothing_varies_ && result_.schedules >= kRunsIfNothingVaries);
  }
  void add_note(std::string note) {
    if (std::ranges::find(result_.notes, note) == result_.notes.end())
      result_.notes.push_back(std::move(note));
  }

  const HuntOptions& options_;
  HuntObserver& observer_;
  std::span<ReportListener* const> listeners_;
  HuntInput input_;
  Judge judge_;
  std::unique_ptr<Search> search_;
  LoopWaits loop_waits_;
  std::optional<FuzzStart> start_;  // a failing schedule: one that passes is wanted
  LaunchPlan plan_;
  HuntRecorder recorder_;
  TimeLimit limit_;  // of all, with the recording of what was found
  Interrupts interrupts_;
  std::unique_ptr<JobRunner> runner_;
  double started_;
  double stage_until_ = 0;  // 0: only the options bound it
  HuntStage stage_ = HuntStage::kHunting;
  std::uint32_t pool_ = 4;  // threads made ready before main, until the first runs tell
  bool pool_settled_ = false;
  bool in_place_ = false;
  bool restart_ = false;
  bool budget_raised_ = false;
  bool of_lower_budget_ = false;  // the round under way was planned before that
  std::uint64_t not_repeated_ = 0;
  std::string first_not_repeated_;
  bool interrupted_ = false;
  bool out_of_time_ = false;
  bool missing_ = false;    // the last round was ended before all of its jobs were run
  std::uint64_t done_ = 0;  // of the round, and when that last changed
  double done_since_ = 0;
  bool told_why_unresolved_ = false;
  bool failed_ = false;  // an error ended it after something was found
  bool nothing_varies_ = true;
  bool one_thread_each_ = true;  // in every run so far
  bool forks_ = false;           // in any run so far
  std::uint64_t first_hash_ = 0;
  SharingMap sharing_;
  std::unordered_set<std::uint64_t> interleavings_;
  std::map<std::uint64_t, std::size_t> failure_of_key_;  // key of a job to result_.failures
  HuntFindings findings_;
  std::optional<Schedule> failing_;
  std::uint64_t failing_clock_ = 0;
  std::optional<JobPlan> first_passing_;
  HuntResult result_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_STATE_H_
