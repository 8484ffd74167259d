// Runs schedules one after the other and pays only for what they do not have in common: the program
// is left standing at checkpoints (ServedProgram), and a schedule resumes from the last one up to
// which it is the same as the schedule before.
#ifndef CLEW_HOST_ISOLATE_PREFIX_LANE_H_
#define CLEW_HOST_ISOLATE_PREFIX_LANE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/schedule/schedule.h"
#include "host/target/job_runner.h"

namespace clew {

// The last event before which runs under the two schedules can be told to be the same: a checkpoint
// that stands before it, or before an earlier one, serves both.
[[nodiscard]] std::uint64_t common_until(const Schedule& a, const Schedule& b);

struct LaneRun {
  RanJob job;
  std::uint64_t began = 0;  // events that did not have to be run again
  bool cut = false;         // it went past the horizon, and was left there
};

class PrefixLane {
 public:
  PrefixLane(LaunchPlan plan, ServeOptions options, OpenInput open_input);
  ~PrefixLane();

  struct Task {
    JobPlan job;  // kSchedule, with the guide of `schedule`
    Schedule schedule;
    std::vector<std::uint64_t> stops;        // where checkpoints will be of use; ascending
    std::uint64_t horizon = 0;               // not to be run beyond this event; 0: to its end
    std::uint64_t from = ~std::uint64_t{0};  // to be run from this event on at the latest
  };
  // `pulse` is called several times a second; false: give up. Nothing: it was given up.
  [[nodiscard]] Result<std::optional<LaneRun>> run(const Task& task,
                                                   const std::function<bool()>& pulse);

  [[nodiscard]] std::uint64_t checkpoints() const;  // made so far
  [[nodiscard]] ServedProgram::FileUse file_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_PREFIX_LANE_H_
