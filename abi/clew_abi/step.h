// What a thread is about to do at a scheduling point, as strategies and traces tell it apart.
#ifndef CLEW_ABI_STEP_H_
#define CLEW_ABI_STEP_H_

#include <cstdint>

namespace clew::abi {

enum class StepKind : std::uint8_t {
  kOther,  // a yield, a sleep, a thread's start
  kRead,
  kWrite,
  kUpdate,  // read-modify-write, compare-exchange, block copy onto itself
  kLock,    // about to take the lock
  kUnlock,
  kWait,    // condition variable, semaphore, futex, barrier
  kSignal,  // wakes
  kCreate,
  kJoin,
  kFree,     // memory is freed or unmapped: a write to all of it
  kDestroy,  // a synchronisation object is destroyed, a variable goes out of scope: likewise
  kCount
};

// The object does not exist any more after it.
constexpr bool ends_life(StepKind kind) {
  return kind == StepKind::kFree || kind == StepKind::kDestroy;
}

constexpr bool is_access(StepKind kind) {
  return kind == StepKind::kRead || kind == StepKind::kWrite || kind == StepKind::kUpdate ||
         ends_life(kind);
}

}  // namespace clew::abi

#endif  // CLEW_ABI_STEP_H_
