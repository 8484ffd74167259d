#include "runtime/record/job.h"

#include "runtime/record/callbacks.h"

namespace clew::rt {
namespace {
bool g_running = false;
constinit JobFailure g_failure;
}  // namespace

constinit RecordCallbacks g_record_callbacks;

bool running_job() { return g_running; }

void begin_job_report() {
  g_running = true;
  g_failure = {};
}

void end_job_report() { g_running = false; }

void note_job_failure(abi::FailureKind kind, std::uint64_t key) {
  if (!g_failure.failed) g_failure = {true, kind, key};
}

void add_to_failure_key(std::uint64_t part) { g_failure.key += part; }

const JobFailure& job_failure() { return g_failure; }

void finish_job(abi::JobEnd end, int status, Clock clock) {
  g_record_callbacks.finish_job(end, status, clock);
  __builtin_unreachable();
}

}  // namespace clew::rt
