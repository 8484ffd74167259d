// The verdict: derives the outcome from how the program ended and what it reported.
#ifndef CLEW_HOST_TARGET_OUTCOME_OF_H_
#define CLEW_HOST_TARGET_OUTCOME_OF_H_

#include <optional>
#include <string>

#include "host/target/run_result.h"

namespace clew {

// Why clew itself ended the run.
struct Stopped {
  FailureKind kind = FailureKind::kInterrupted;
  std::string detail;
};

struct EndFacts {
  int wait_status = 0;           // as waitpid gives it
  std::uint64_t live_clock = 0;  // the last one seen, for a run without kEnd
  std::optional<Stopped> stopped;
};

// A failure's thread is filled in; its source line only if the runtime named one: the
// rest needs symbols.
RunSummary summarize(const EndFacts& facts, const Reports& reports);

// "T0.2", or "thread 7" for one that was never announced.
std::string thread_name(const Reports& reports, ThreadIndex thread);

// What a shell would see: the exit status, or 128 + signal.
int shell_status(int wait_status);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_OUTCOME_OF_H_
