// Runs of a program under schedules of our choice, with traces and verdicts.
#ifndef CLEW_HOST_CASES_LAB_H_
#define CLEW_HOST_CASES_LAB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cases/sites.h"
#include "host/error.h"
#include "host/recording/scratch_store.h"
#include "host/search/hunt.h"
#include "host/search/hunt_recorder.h"
#include "host/search/search.h"

namespace clew {

struct LabRun {
  JobPlan plan;
  Verdict verdict = Verdict::kUnresolved;
  abi::JobResult result{};
  std::vector<TraceStep> steps;
  std::vector<TraceDecision> decisions;  // of a run that follows a schedule
  bool complete = true;                  // false: the trace is only the beginning
};

struct LabOptions {
  LaunchPlan plan;
  Criteria criteria;
  std::function<Result<HuntInput>()> input;  // a fresh one each time
  unsigned jobs = 0;
  std::uint64_t seed = 1;
  double until = 0;  // by seconds_now(); 0: no limit
};

// Asked after each run: whether to continue.
using LabListener = std::function<bool(LabRun&& run)>;

class Lab {
 public:
  // The observer lives longer.
  Lab(LabOptions options, HuntObserver& observer);
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  // All plans, traced in full, in this order.
  [[nodiscard]] Result<void> run(std::vector<JobPlan> plans, const LabListener& listener);
  // At most `most` proposals of a search, traced in full.
  [[nodiscard]] Result<void> run(std::unique_ptr<Search> search, std::uint64_t most,
                                 const LabListener& listener);

  // The run once more, by itself, recorded in `store`, with its stacks at these clocks. Nothing: its
  // verdict is another one.
  [[nodiscard]] Result<std::optional<RecordedJob>> record(const LabRun& run, RecordingStore& store,
                                                          Origin origin,
                                                          std::vector<std::uint64_t> queries);
  // The run once more, so that its sites are known. False: it did not come out the same.
  [[nodiscard]] Result<bool> learn_sites(const LabRun& run, Sites& sites);

  // The run once more, so that its schedule is known. Nothing: it did not come out the same.
  [[nodiscard]] Result<std::optional<Schedule>> schedule_of(const LabRun& run);

  // Likewise, how it failed.
  [[nodiscard]] Result<std::optional<Failure>> failure_of(const LabRun& run);

  [[nodiscard]] const LabOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  [[nodiscard]] int interrupted_by() const { return interrupted_by_; }
  [[nodiscard]] bool time_is_up() const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  LabOptions options_;
  HuntObserver& observer_;
  ScratchStore scratch_;
  std::shared_ptr<const RunResult> any_run_;
  std::uint64_t runs_ = 0;
  int interrupted_by_ = 0;
  std::vector<std::string> notes_;
};

// Runs without a preemption, and by random walks of several kinds.
[[nodiscard]] std::vector<JobPlan> sample_plans(std::uint64_t seed, std::size_t count,
                                                std::uint64_t steps);
[[nodiscard]] JobPlan default_plan();

}  // namespace clew

#endif  // CLEW_HOST_CASES_LAB_H_
