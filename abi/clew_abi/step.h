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
  kCount
};

constexpr bool is_access(StepKind kind) {
  return kind == StepKind::kRead || kind == StepKind::kWrite || kind == StepKind::kUpdate;
}

}  // namespace clew::abi

#endif  // CLEW_ABI_STEP_H_
