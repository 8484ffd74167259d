// Who runs the jobs of a hunt or of isolation: this machine's cores (workers.h), new processes for
// programs that cannot be served (search/fresh_processes.h), or whoever a caller names
// (RunnerFactory), such as other machines. A run is a pure function of program and job, so it does
// not matter who runs it, nor in which order.
#ifndef CLEW_HOST_TARGET_JOB_RUNNER_H_
#define CLEW_HOST_TARGET_JOB_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/recording/file.h"
#include "host/target/job_plan.h"
#include "host/target/launch_plan.h"
#include "host/target/served_program.h"

namespace clew {

// A job that was run, or was not because the runner was told to stop.
struct RanJob {
  ServedJob job;
  bool done = false;
  int interrupted_by = 0;  // a signal to clew that ended it; 0: none
  std::string output;      // with ServeOptions::capture
  std::string errors;
};

class JobRunner {
 public:
  virtual ~JobRunner() = default;

  // Makes programs ready, or makes them ready anew, each with a pool of so many threads. Not while
  // jobs are run.
  [[nodiscard]] virtual Result<void> start(std::uint32_t pool) = 0;

  // Runs all jobs. `results` stand in the order of the jobs, one for each; those that are done are
  // there whatever ends the rest: being told to stop, or an error. `sharing`: which yield points
  // touch what threads share; `choices`: bits 1 << abi::ChoiceKind. `pulse` is called several times
  // a second with the number done so far; when it returns false the runner stops as soon as it can.
  using Pulse = std::function<bool(std::uint64_t done)>;
  [[nodiscard]] virtual Result<void> run(std::span<const JobPlan> jobs,
                                         std::span<const std::uint8_t> sharing,
                                         std::uint32_t choices, const Pulse& pulse,
                                         std::vector<RanJob>& results) = 0;

  // How many jobs it runs at the same time.
  [[nodiscard]] virtual unsigned width() const = 0;

  // These take effect with the next start().
  // Every job has a process of its own.
  virtual void stop_running_in_place() = 0;
  virtual void set_budget(std::uint64_t budget) = 0;
  // If jobs so far made or changed files, of which two at a time would see each other's: one job at
  // a time. Whether that is new.
  [[nodiscard]] virtual bool leave_files_to_one() = 0;

  // What all jobs so far did to files.
  [[nodiscard]] virtual ServedProgram::FileUse file_use() const = 0;
};

// Gives a program's standard input, which starts at its beginning.
using OpenInput = std::function<Result<FileDescriptor>()>;

// Makes the runner of a hunt or of isolation. REQUIRES: `open_input` may be called as long as the
// runner lives.
using RunnerFactory = std::function<Result<std::unique_ptr<JobRunner>>(
    const LaunchPlan& plan, const ServeOptions& options, OpenInput open_input)>;

}  // namespace clew

#endif  // CLEW_HOST_TARGET_JOB_RUNNER_H_
