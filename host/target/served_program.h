// A program that is started once and run many times (runtime/snapshot).
#ifndef CLEW_HOST_TARGET_SERVED_PROGRAM_H_
#define CLEW_HOST_TARGET_SERVED_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/target/child.h"
#include "host/target/control_memory.h"
#include "host/target/job_plan.h"
#include "host/target/launch_plan.h"
#include "host/target/outcome_of.h"
#include "host/trace/trace.h"

namespace clew {

// A bit for each yield point. The runtime treats points beyond the end as shared, so a run that
// must be the same as another must have the same number of bits.
inline constexpr std::uint64_t kSharingBytes = std::uint64_t{256} << 10;

// Looks at the jobs of a program that is served, from the thread that runs them.
class JobWatcher {
 public:
  virtual ~JobWatcher() = default;
  virtual void before_job() = 0;
  virtual void after_job(abi::JobResult& result) = 0;
};

struct ServeOptions {
  bool in_place = false;  // reset the process between jobs instead of forking
  bool capture = false;   // keep what a job writes; batches must then be of one job
  // For a program that is about to be started by this plan; batches must then be of one job, too. The
  // watcher lives longer than the program.
  std::function<Result<std::unique_ptr<JobWatcher>>(LaunchPlan& plan)> watch = {};
  std::uint32_t jobs = 256;                      // at most in a batch
  std::uint64_t data = std::uint64_t{16} << 20;  // bytes for their guides
  std::uint64_t sharing = kSharingBytes;
  std::uint64_t trace = std::uint64_t{64} << 20;  // bytes for their traces
  double stuck_seconds = 20;                      // a job that takes longer is ended
};

struct ServedJob {
  abi::JobResult result{};
  Trace trace;
  std::vector<std::uint32_t> shared_points;  // newly found
  std::vector<std::uint64_t> findings = {};  // of watches and listeners: abi::FindingKey, each once
  // Why clew ended it, if it did.
  std::optional<Stopped> stopped;
};

// Checkpoints: a job with abi::kJobCheckpoint stops before event `stop_at` (result: kCheckpoint,
// and the clock is that of the event before), and all jobs that follow, in the same batch or later,
// resume from there, each as if it were the first to do so. A checkpoint job among them puts a
// further checkpoint on top. Its own run may end before it gets there: that is then its result, and
// there is no new checkpoint.
//
// A job's strategy applies from its checkpoint on, and so do the counts in its guide and
// parameters. A schedule (kSchedule) and a script (kScript) are the exceptions: their clocks and
// events are those of the whole run, and what lies before the checkpoint is left out. A run to a
// checkpoint that is resumed from there under the same schedule therefore has the clock, hash and
// outcome of an uninterrupted run of that schedule.
// Processes that hold checkpoints may die. Jobs that would resume from one that is gone are not run
// (kNotRun), and depth() shows it.
// Not thread-safe, but several objects may be at work at the same time. REQUIRES: start() and all
// other calls come from one thread, because the program dies with that thread.
class ServedProgram {
 public:
  // Starts the program and waits until it stands at main. `input`: its standard input.
  // Fails with kBadInput if the program ends before that.
  [[nodiscard]] static Result<ServedProgram> start(const LaunchPlan& plan, int input,
                                                   const ServeOptions& options);
  ServedProgram(ServedProgram&&) noexcept;
  ~ServedProgram();

  // Runs the jobs, one after the other. `sharing`: which yield points touch shared memory;
  // `choices`: bits 1 << abi::ChoiceKind. Stops early, with fewer results, once *stop is set.
  [[nodiscard]] Result<std::vector<ServedJob>> run(std::span<const JobPlan> jobs,
                                                   std::span<const std::uint8_t> sharing,
                                                   std::uint32_t choices,
                                                   const std::atomic<bool>* stop);

  // Number of checkpoints that exist; 0: jobs begin at main.
  [[nodiscard]] std::size_t depth() const;
  // Drops the newest checkpoint, if there is one.
  [[nodiscard]] Result<void> leave_checkpoint();

  // What jobs did to files. Files that they created are removed when they end (those of a
  // checkpoint's run when the checkpoint is dropped); others that they write to, rename or remove
  // are not restored.
  struct FileUse {
    std::uint64_t created = 0;                 // and removed
    std::uint64_t changed = 0;                 // and not restored
    std::optional<std::string> changed_first;  // absolute path
  };
  [[nodiscard]] FileUse file_use() const;

  // With `capture`: what the last job wrote, including what was written before its checkpoint.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] std::string errors() const;

  [[nodiscard]] std::uint64_t forks() const;
  // What is missing here, one sentence each: addresses that do not move, system calls that are
  // caught.
  [[nodiscard]] std::vector<std::string> lacks() const;
  // How many of `jobs` fit into one batch.
  [[nodiscard]] std::size_t fitting(std::span<const JobPlan> jobs) const;

 private:
  struct State;
  explicit ServedProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_SERVED_PROGRAM_H_
