// A wait of a thread: for an object, for time, for something from outside. It lies on the waiting
// thread's stack, so that a signal handler that runs in the middle of one may wait itself.
#ifndef CLEW_RUNTIME_SCHED_WAIT_H_
#define CLEW_RUNTIME_SCHED_WAIT_H_

#include "clew_abi/stream.h"
#include "runtime/rt.h"
#include "runtime/sched/timers.h"

namespace clew::rt {

struct Fiber;

struct Wait {
  Timer timer;  // first: a timer that fires is its wait
  Fiber* fiber = nullptr;
  abi::WaitKind kind = abi::WaitKind::kNothing;
  const void* object = nullptr;  // null: in no bucket
  const void* about = nullptr;   // what reports say it waits for, if it is in no bucket
  std::uint32_t bits = ~0u;      // futex bitset
  bool woken = false;
  bool timed_out = false;
  bool outside = false;  // part of an OutsideWait
  bool polls = false;    // being woken only means to look again: what else ends it comes first
  Clock since = 0;       // when it began
  Nanos disturbed = 0;   // when a handler began to run in the middle of it, the last time
  Wait* next = nullptr;  // of the bucket of the object
  Wait* previous = nullptr;
  Wait* outer = nullptr;  // that a signal handler interrupted
  bool over() const { return woken || timed_out; }
};

// How a wait came to its end.
enum class Woke : std::uint8_t {
  kByObject,
  kByTime,
  kBySignal,  // a handler ran, and the wait does not continue after it
  kByCancel,  // pthread_cancel: the caller acts on it
};

// What a wait may end by, other than what it waits for. A handler runs in any case.
enum Disturbances : std::uint8_t {
  kUndisturbed = 0,
  kSignals = 1,        // handlers without SA_RESTART
  kSignalsAlways = 2,  // any handler
  kCancel = 4,
};

// What came of attending to a disturbance (Surroundings::attend).
struct Attended {
  bool handled = false;    // a handler ran
  bool restarts = true;    // all that ran have SA_RESTART
  bool cancelled = false;  // the thread is to be cancelled

  // Whether a wait that may end by these disturbances is over.
  bool ends(unsigned ended_by) const {
    if (cancelled) return true;
    if (!handled) return false;
    return (ended_by & kSignalsAlways) != 0 || ((ended_by & kSignals) != 0 && !restarts);
  }
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_WAIT_H_
