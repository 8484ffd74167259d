// Turns a job into a recording: the same run once more, in a separate process, recorded in full.
// What does not happen again there is not reported: every answer is checked by running.
#ifndef CLEW_HOST_SEARCH_HUNT_RECORDER_H_
#define CLEW_HOST_SEARCH_HUNT_RECORDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/recording/recording.h"
#include "host/schedule/schedule.h"
#include "host/search/criteria.h"
#include "host/search/hunt_input.h"
#include "host/search/search.h"
#include "host/target/job_runner.h"
#include "host/target/launch_plan.h"
#include "host/target/run_result.h"

namespace clew {

// A job with all that its run depends on.
struct ExactJob {
  JobPlan plan;
  std::span<const std::uint8_t> sharing;
  std::uint32_t choices = 0;
  std::uint32_t pool = 0;
  Origin origin;
  std::vector<std::uint64_t> queries = {};  // clocks at which to note where the threads stand
};

struct RecordedJob {
  std::uint64_t number = 0;  // of the recording
  RunResult run;
  RunSummary summary;  // as the criteria see it
  Judgement judgement;
  Schedule schedule;
};

class HuntRecorder {
 public:
  HuntRecorder(LaunchPlan plan, const HuntInput& input, RecordingStore& store, Judge& judge);

  // Takes the next number for the passing run that is still to be found, so that the failing one,
  // recorded earlier, is nevertheless the newest: it is the one that commands take by default.
  [[nodiscard]] Result<void> reserve_for_passing();

  // Nothing: the verdict was not `wanted`, and the run was not kept.
  [[nodiscard]] Result<std::optional<RecordedJob>> record(const ExactJob& job, Verdict wanted);

  // Of the last run; nothing: it was stopped.
  [[nodiscard]] std::optional<Verdict> verdict() const { return verdict_; }
  // The signal that ended the last run, if one did.
  [[nodiscard]] int interrupted_by() const { return interrupted_by_; }

  void set_budget(std::uint64_t budget) { plan_.budget = budget; }
  void set_flags(std::uint32_t flags) { plan_.flags = flags; }
  void set_process(std::uint32_t enter_child, std::uint32_t clock_speed) {
    plan_.enter_child = enter_child;
    plan_.clock_speed = clock_speed;
  }
  // By seconds_now(): the next runs must end by then, or are not kept. 0: no limit but that of the
  // command (TimeLimit).
  void set_until(double until) { until_ = until; }
  [[nodiscard]] bool ran_out_of_time() const { return ran_out_of_time_; }

  // A run in a separate process; for programs that cannot be served. It is not done if `pulse`,
  // which is called while it lasts, says that it is to be stopped.
  [[nodiscard]] Result<RanJob> run_anew(const ExactJob& job, const std::function<bool()>& pulse);
  // The same for what watches and listeners find in it, with names. Nothing: it was stopped.
  [[nodiscard]] Result<std::optional<RunResult>> run_for_findings(const ExactJob& job);

 private:
  [[nodiscard]] LaunchPlan plan_of(const ExactJob& job) const;

  LaunchPlan plan_;
  const HuntInput& input_;
  RecordingStore& store_;
  Judge& judge_;
  std::optional<ProgramIdentity> identity_;
  std::optional<Draft> reserved_;
  std::optional<Verdict> verdict_;
  int interrupted_by_ = 0;
  double until_ = 0;
  bool ran_out_of_time_ = false;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_RECORDER_H_
