// Runs jobs on several cores: each worker is a thread with a program of its own that is started
// once and run many times.
#ifndef CLEW_HOST_SEARCH_WORKERS_H_
#define CLEW_HOST_SEARCH_WORKERS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/target/served_program.h"

namespace clew {

// A job that was run, or was not because the workers were stopped.
struct WorkerJob {
  ServedJob job;
  bool done = false;
  std::string output;  // with ServeOptions::capture
  std::string errors;
};

class Workers {
 public:
  // `open_input` gives each worker a standard input that starts at its beginning.
  using OpenInput = std::function<Result<FileDescriptor>()>;
  Workers(LaunchPlan plan, ServeOptions options, unsigned count, OpenInput open_input);
  ~Workers();

  // Starts or restarts the programs. REQUIRES: no jobs are being run.
  [[nodiscard]] Result<void> start(std::uint32_t pool);

  // Runs all jobs; results stand in the order of the jobs. `pulse` is called several times a second
  // with the number done so far; when it returns false the workers stop as soon as they can.
  [[nodiscard]] Result<std::vector<WorkerJob>> run(std::span<const JobPlan> jobs,
                                                   std::span<const std::uint8_t> sharing,
                                                   std::uint32_t choices,
                                                   const std::function<bool(std::uint64_t)>& pulse);

  // From now on every job runs in a separate process. Takes effect with the next start().
  void stop_running_in_place();

  void set_budget(std::uint64_t budget);  // likewise

  // If jobs so far made or changed files, of which two at a time would see each other's: from the
  // next start() on there is one worker. Whether that is new.
  [[nodiscard]] bool leave_files_to_one();

  [[nodiscard]] std::uint64_t forks() const;  // processes that were needed so far
  // What all jobs so far did to files; workers that are restarted keep counting.
  [[nodiscard]] ServedProgram::FileUse file_use() const;

 private:
  struct State;
  void end_threads();
  std::unique_ptr<State> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_WORKERS_H_
