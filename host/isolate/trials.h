// Experiments with a program: its verdict under a schedule of our choice (Choi and Zeller
// 2002, section 4.2). Their cost is counted.
//
// Short runs are made in processes that are put back after each, on all cores. Long ones resume
// from checkpoints. A program that can do neither is restarted for each.
#ifndef CLEW_HOST_ISOLATE_TRIALS_H_
#define CLEW_HOST_ISOLATE_TRIALS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/error.h"
#include "host/isolate/dd.h"
#include "host/isolate/prefix_lane.h"
#include "host/schedule/schedule.h"
#include "host/search/criteria.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_recorder.h"
#include "host/target/job_runner.h"

namespace clew {

struct TrialOptions {
  LaunchPlan plan;           // how the failing run was started; its schedule is not used
  Criteria criteria;         // what counts as a failure
  bool any_failure = false;  // other failures than the one under study count as it; otherwise they
                             // are unresolved outcomes (Choi and Zeller 2002, section 4.5)
  unsigned jobs = 0;         // 0: as many as there are cores
  bool checkpoints = true;
  bool long_run = false;           // a run is known to take so long that checkpoints pay
  std::uint64_t expected_end = 0;  // then: its clock
  RunnerFactory runner = {};       // who runs short runs; empty: this machine
};

// How long a run takes for which checkpoints pay, in seconds: making one takes about a millisecond.
inline constexpr double kLongRun = 0.05;
// A run that takes this long is a long one even if it was disturbed: a recording, with all that
// starting and recording cost, or a run of few events on a busy machine. Chosen, not measured.
inline constexpr double kClearlyLong = 4 * kLongRun;
inline constexpr std::uint64_t kFewEvents = 10'000;

struct TrialRun {
  Verdict verdict = Verdict::kUnresolved;  // kFail: it is the failure under study
  abi::JobResult result{};
  Trace trace;
  Judgement judgement;
  bool cut = false;    // taken as passing because it went far past where failures show
  bool hides = false;  // it passed, but never came to where the failing run fails
};

// Called while trials run; false: stop them.
using TrialPulse = std::function<bool()>;

class Trials {
 public:
  // `judge` is shared with the recorder.
  Trials(TrialOptions options, const HuntInput& input, HuntRecorder& recorder, Judge judge,
         TrialPulse pulse);
  ~Trials();

  // Runs the failing schedule, with a trace of its decisions: from then on "the failure" is what
  // became of it. kBadInput: it does not fail. Decides how runs are made.
  [[nodiscard]] Result<TrialRun> set_failure(const Schedule& failing);

  // In the order of the plans. An empty list: they were stopped.
  [[nodiscard]] Result<std::vector<TrialRun>> run(std::span<const JobPlan> plans);

  // One schedule, from the last checkpoint that it shares with the one before. `next`: schedules
  // that may follow; checkpoints are made where they part, or they are run on other cores, ahead of
  // being asked for. Nothing: stopped.
  [[nodiscard]] Result<std::optional<TrialRun>> run_one(const Schedule& schedule,
                                                        std::span<const Schedule> next);

  // The same with a trace: of its decisions from event `first` on, or from earlier; of its accesses
  // and synchronisation from there to `last`, if that is not before.
  [[nodiscard]] Result<std::optional<TrialRun>> run_traced(const Schedule& schedule,
                                                           std::uint64_t first, std::uint64_t last);

  // A run that passes without ever coming to where the failing run fails hides the failure: it
  // shows nothing about what fails. Such a run is unresolved, until this is called.
  void accept_hiding();
  [[nodiscard]] bool accepts_hiding() const { return accepts_hiding_; }
  // Whether it can be told at all.
  [[nodiscard]] bool knows_failing_place() const { return failing_place_ != 0; }
  // Whether the place is the statement that fails, so that a run which never comes there is known to
  // hide the failure; otherwise it is one a little before.
  [[nodiscard]] bool failing_place_is_exact() const { return failing_place_is_exact_; }

  // No run is cut short from now on.
  void run_to_the_end() { may_cut_ = false; }

  // A run made elsewhere (a recording), to be counted with the others.
  void count_elsewhere(std::uint64_t events) { events_ += events; }

  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  // Events executed, in runs of the failing schedule.
  [[nodiscard]] double cost_runs() const;
  [[nodiscard]] bool has_cut() const { return has_cut_; }  // at least one run was
  [[nodiscard]] bool stopped() const { return stopped_; }
  void resume() { stopped_ = false; }
  [[nodiscard]] bool has_checkpoints() const { return lane_ != nullptr; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const TrialRun& failure() const { return failure_; }

 private:
  // `watches`: it was counted whether the run came to where the failing one fails.
  [[nodiscard]] Result<TrialRun> judged(RanJob& ran, bool watches);
  [[nodiscard]] const TrialRun* known(const Schedule& schedule) const;
  void remember(const Schedule& schedule, const TrialRun& run);
  [[nodiscard]] Result<std::optional<TrialRun>> run_ahead(const Schedule& schedule,
                                                          std::span<const Schedule> next);
  [[nodiscard]] Result<std::optional<TrialRun>> run_from_checkpoint(PrefixLane::Task task);
  [[nodiscard]] PrefixLane::Task task_of(const Schedule& schedule,
                                         std::span<const Schedule> next) const;
  [[nodiscard]] Result<std::optional<TrialRun>> run_alone(const JobPlan& plan);
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<std::optional<TrialRun>> run_first(const Schedule& failing);
  [[nodiscard]] Result<void> leave_files_to_one_worker();
  [[nodiscard]] Result<void> limit_budget();
  [[nodiscard]] Result<void> find_failing_place(const Schedule& failing);
  [[nodiscard]] Result<void> widen_horizon(const Schedule& failing);
  [[nodiscard]] Result<std::unordered_set<abi::Place>> places_of_passing_runs();
  void add_note(std::string note);
  void note_changed_file(const ServedProgram::FileUse& files);
  [[nodiscard]] bool pulse();

  TrialOptions options_;
  const HuntInput& input_;
  HuntRecorder& recorder_;
  Judge judge_;
  TrialPulse pulse_;
  ServeOptions serve_;
  std::unique_ptr<JobRunner> runner_;
  bool served_ = true;  // false: the program is restarted for every run
  std::unique_ptr<PrefixLane> lane_;
  TrialRun failure_;
  bool failure_known_ = false;
  bool jobs_are_ours_ = false;  // to choose
  bool may_cut_ = true;
  std::uint64_t horizon_ = 1'000'000;  // at least; chosen, not measured
  bool has_cut_ = false;
  bool stopped_ = false;
  bool accepts_hiding_ = false;
  abi::Place failing_place_ = 0;
  bool failing_place_is_exact_ = false;
  std::uint64_t runs_ = 0;
  std::uint64_t events_ = 0;
  std::vector<std::string> notes_;
  // What schedules led to; the newest last.
  struct Known {
    Schedule schedule;
    TrialRun run;
  };
  std::deque<Known> known_;
  std::size_t known_switches_ = 0;  // in all their schedules
};

// A job that follows the schedule; what it says beyond the end of the run has no effect.
[[nodiscard]] JobPlan job_of(const Schedule& schedule);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_TRIALS_H_
