// Runs jobs on several cores: each worker is a thread with a program of its own that is started
// once and run many times.
#ifndef CLEW_HOST_TARGET_WORKERS_H_
#define CLEW_HOST_TARGET_WORKERS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/target/job_runner.h"

namespace clew {

class Workers final : public JobRunner {
 public:
  Workers(LaunchPlan plan, ServeOptions options, unsigned count, OpenInput open_input);
  ~Workers() override;

  [[nodiscard]] Result<void> start(std::uint32_t pool) override;
  [[nodiscard]] Result<void> run(std::span<const JobPlan> jobs,
                                 std::span<const std::uint8_t> sharing, std::uint32_t choices,
                                 const Pulse& pulse, std::vector<RanJob>& results) override;
  [[nodiscard]] unsigned width() const override;
  void stop_running_in_place() override;
  void set_budget(std::uint64_t budget) override;
  [[nodiscard]] bool leave_files_to_one() override;
  // Workers that are started again count on.
  [[nodiscard]] ServedProgram::FileUse file_use() const override;

 private:
  struct State;
  void end_threads();
  std::unique_ptr<State> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_WORKERS_H_
