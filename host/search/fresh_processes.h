// Runs jobs one at a time, each in a process that is started for it: for programs that cannot be
// started once and run many times.
#ifndef CLEW_HOST_SEARCH_FRESH_PROCESSES_H_
#define CLEW_HOST_SEARCH_FRESH_PROCESSES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/search/hunt_recorder.h"
#include "host/target/job_runner.h"

namespace clew {

class FreshProcesses final : public JobRunner {
 public:
  // REQUIRES: the recorder outlives this.
  explicit FreshProcesses(HuntRecorder& recorder) : recorder_(recorder) {}

  [[nodiscard]] Result<void> start(std::uint32_t pool) override;
  [[nodiscard]] Result<void> run(std::span<const JobPlan> jobs,
                                 std::span<const std::uint8_t> sharing, std::uint32_t choices,
                                 const Pulse& pulse, std::vector<RanJob>& results) override;
  [[nodiscard]] unsigned width() const override { return 1; }
  // Each job has a process of its own, and the budget is the recorder's.
  void stop_running_in_place() override {}
  void set_budget(std::uint64_t) override {}
  [[nodiscard]] bool leave_files_to_one() override { return false; }
  [[nodiscard]] ServedProgram::FileUse file_use() const override { return {}; }

 private:
  HuntRecorder& recorder_;
  std::uint32_t pool_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_FRESH_PROCESSES_H_
