// What became of a case, as plain values.
#ifndef CLEW_HOST_CASES_CHECK_RESULT_H_
#define CLEW_HOST_CASES_CHECK_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/placing.h"
#include "host/error.h"
#include "host/outcome.h"

namespace clew {

enum class CaseStatus : std::uint8_t {
  kFails,
  kPasses,       // the order happens, the failure does not
  kNotPossible,  // the order cannot happen any more
  kOpen,         // no run had the order, and nothing shows that it cannot happen
  kNotPlaced,    // the code has changed too much
  kNotRun,       // the file or the program cannot be used
};
const char* to_word(CaseStatus status);  // "fails", "not-possible", as JSON has it

// Why an order cannot happen.
struct NotPossible {
  enum class Why : std::uint8_t {
    kNone,
    kMutex,    // held by both: `at` is where one took it, `source` where the other did
    kGuarded,  // likewise, by all threads that come to the events, whether or not to all of them
    kMutexTogether,  // of several orders: all of them would need two to hold one lock at a time
    kExhausted,      // all schedules were executed
    kJoined,         // the thread of one event is joined before the other, at `at`
    kCreated,        // the thread of one event is created after the other, at `at`
    kBarrier,        // both threads pass the barrier at `at` in between
    kSameThread,     // one thread executes both, in the other order
    kSawFirst,       // in between the read at `at` has seen the write at `source`
    kWaitedFirst,    // in between the wait at `at` is over, because of the signal at `source`
    kOverwritten,    // what is to be seen is overwritten at `at` before the reader comes
    kNotTogether,    // the events happen, but never by such threads to the same data
    kOneStep,        // what something was to come between is one atomic step now, at `at`
    kLockOrder,      // of a deadlock: the locks of all runs are taken without a cycle
    kNeverAfter,     // runs have the first event, and then the second does not come any more
    kGone,           // nothing has the name `variable` any more, which the events are about
  };
  Why why = Why::kNone;
  std::size_t order = 0;  // of the case
  Location at;
  Location source;
  bool one_reason = true;       // false: some runs, or other events of them, have another
  std::uint64_t schedules = 0;  // executed, for kExhausted; otherwise those that have the events
  std::string variable = {};    // kGone
  // What orders the events is seen in runs alone, and in these threads that waited in loops made no more
  // rounds than it took the others to get on.
  bool rounds_not_tried = false;
};

struct CheckedCase {
  std::string file;
  std::optional<Case> one;  // nothing: it cannot be read
  CaseStatus status = CaseStatus::kNotRun;
  std::vector<Placed> placed;              // of its events
  std::optional<std::uint64_t> recording;  // kFails
  std::optional<Failure> failure;          // kFails: how
  bool other_order = false;                // kFails: in a run that does not have the order
  bool lacks_last = false;     // kFails: the last event of an order does not come in the recording
  bool other_failure = false;  // kFails: of another kind
  NotPossible reason;
  std::uint64_t runs = 0;        // in all
  std::uint64_t with_order = 0;  // of these
  std::uint64_t wanted = 1;      // with the order, to be sure that they pass
  std::uint64_t failed = 0;      // of these
  std::uint64_t hunted = 0;      // of the runs: in the hunt around it
  bool out_of_time = false;      // not everything was tried
  bool not_built = false;  // with clew: accesses to memory are no yield points and have no place
  double seconds = 0;
  std::optional<Error> error;  // kNotRun
  std::vector<std::string> notes;
};

struct CheckResult {
  std::vector<CheckedCase> cases;
  int interrupted_by = 0;
};

// 0 all pass or are not possible any more, 1 one fails, 122 one cannot be placed, cannot be run, or
// is open; 128 + n interrupted by signal n (docs/exit-status.md).
[[nodiscard]] int exit_status_of(const CheckResult& result);

}  // namespace clew

#endif  // CLEW_HOST_CASES_CHECK_RESULT_H_
