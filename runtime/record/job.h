// A run that is one of many in a process (snapshot/server.h). Its failure and its end go to the
// host as an abi::JobResult instead of messages.
#ifndef CLEW_RUNTIME_RECORD_JOB_H_
#define CLEW_RUNTIME_RECORD_JOB_H_

#include "clew_abi/control.h"
#include "runtime/rt.h"

namespace clew::rt {

struct JobFailure {
  bool failed = false;
  abi::FailureKind kind = abi::FailureKind::kExit;
  std::uint64_t key = 0;  // equal failures have equal keys
};

// Whether this process runs a job for the host.
bool running_job();
void begin_job_report();
// This process is a copy that the program made of itself: it has no job.
void end_job_report();

// The run has failed in this way; the first report counts.
void note_job_failure(abi::FailureKind kind, std::uint64_t key);
void add_to_failure_key(std::uint64_t part);
const JobFailure& job_failure();

// The run is over. REQUIRES: running_job().
[[noreturn]] void finish_job(abi::JobEnd end, int status, Clock clock);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_JOB_H_
