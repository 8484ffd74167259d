// Runs jobs like any other (host/target/workers.h), counted: each program that is served runs
// translated, and after each job stands who called whom how often.
#ifndef CLEW_HOST_CALLS_COUNTED_JOBS_H_
#define CLEW_HOST_CALLS_COUNTED_JOBS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host/calls/call_log.h"
#include "host/calls/program_code.h"
#include "host/target/job_runner.h"
#include "host/translate/service.h"

namespace clew {

class CountedJobs {
 public:
  // kCounters counts calls and no more; kOwnCalls, of GraphKind::kReduced, tells interruptions as well. Other graphs
  // need kEveryCall.
  CountedJobs(CountLevel level, GraphKind graph, CallDetail detail);
  ~CountedJobs();

  // Runs jobs for a hunt, `width` at a time. The results have the number of the job's counts as
  // their abi::JobResult::number. REQUIRES: this outlives the runners. The programs of all of them are the
  // same file: what was translated for one is used for the next.
  [[nodiscard]] RunnerFactory factory(unsigned width);

  // The counts of a job, once. Nothing: there are none of this number, or the program has overwritten
  // them.
  [[nodiscard]] std::optional<CallCounts> take(std::uint64_t number);
  void forget_others();  // that were not taken

  [[nodiscard]] ProgramCode& code() { return code_; }

 private:
  struct Translation;
  class Watcher;

  [[nodiscard]] Result<std::unique_ptr<Translation>> borrow();
  void give_back(std::unique_ptr<Translation> translation);
  std::uint64_t keep(CallCounts counts);

  ProgramCode code_;
  GraphKind graph_;
  CallDetail detail_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Translation>> free_;
  std::unordered_map<std::uint64_t, CallCounts> counts_;
  std::uint64_t last_number_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_COUNTED_JOBS_H_
