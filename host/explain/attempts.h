// What a run was given instead of what it asked for: attempts that fail and waits that end though nobody has ended them. A program has to
// reckon with each of them; one that does not fails for that, and no order of accesses tells why.
#ifndef CLEW_HOST_EXPLAIN_ATTEMPTS_H_
#define CLEW_HOST_EXPLAIN_ATTEMPTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/explain/explanation.h"
#include "host/explain/traced_pair.h"
#include "host/schedule/schedule.h"

namespace clew {

struct Attempt {
  OutcomeKind kind = OutcomeKind::kTry;
  Instance at;               // the call, or the compare-exchange
  std::uint64_t object = 0;  // what it was about
  // The answer of the run's schedule that has decided it. Nothing: another thread had what it wanted, or its time was over.
  std::optional<std::size_t> choice;
};

// Of one run with that schedule, in its order. Time-outs, failed attempts to lock, failed weak compare-exchanges and wake-ups that no signal
// was the reason of.
[[nodiscard]] std::vector<Attempt> failed_attempts(TracedPair& pair, WhichRun side,
                                                   const Schedule& schedule);

// Whether the thread tries the same again because it has failed.
enum class SucceedsInPassing : std::uint8_t { kNo, kYes };
[[nodiscard]] bool is_repeated(TracedPair& pair, const Attempt& attempt,
                               SucceedsInPassing succeeds);

// The last call before the step that took the lock, if its thread still had it then. Not valid: nobody had it.
[[nodiscard]] Instance holder_of(const RunTrace& run, std::uint64_t lock, StepIndex step);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_ATTEMPTS_H_
