// What every interposed function does first.
#ifndef CLEW_RUNTIME_INTERCEPT_CALL_H_
#define CLEW_RUNTIME_INTERCEPT_CALL_H_

#include "runtime/fiber/own_stack.h"
#include "runtime/intercept/interposed.h"
#include "runtime/libc/real.h"
#include "runtime/record/log.h"
#include "runtime/record/points.h"
#include "runtime/sched/scheduler.h"

// What all calls to the outside touch: their order may matter. Reports have words for it.
extern "C" char clew_outside;

namespace clew::rt {

constexpr std::uint64_t operation(const char* name) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (; *name != '\0'; ++name) h = (h ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
  return h;
}

// Takes the call site that instrumented code left, if it did.
inline abi::Place take_call_site(Fiber& fiber, const void* return_address, bool& counts) {
  const abi::Point* site = *fiber.call_site;
  *fiber.call_site = nullptr;
  counts = reinterpret_cast<std::uintptr_t>(site) != abi::kNoPointSite;
  return site != nullptr && counts ? place_of(site) : place_of_code(return_address);
}

// What a call is about to do to what, and, if it may have to wait, whether it can do so now.
struct Intent {
  abi::StepKind kind = abi::StepKind::kOther;
  const volatile void* object = nullptr;
  bool (*can_proceed)(const Fiber&) = nullptr;
  std::uint32_t size = 1;  // of the object, as far as it is affected
};

// The object does not exist any more afterwards: a write to all of it.
template <class T>
Intent destroys(T* object) {
  return {abi::StepKind::kDestroy, object, nullptr, sizeof *object};
}

inline constexpr Intent kOutside{abi::StepKind::kUpdate, &clew_outside};

// A call of a synchronisation function is an event: a yield point, and part of the hash.
inline void enter(std::uint64_t op, const void* return_address, const Intent& intent = {}) {
  Fiber& fiber = *g_sched.current;
  bool counts;
  const abi::Place place = take_call_site(fiber, return_address, counts);
  const Reached reached{
      place,
      {reinterpret_cast<std::uintptr_t>(intent.object), place, intent.size, intent.kind},
      intent.can_proceed};
  const bool is_event = counts && fiber.no_yield == 0;
  if (is_event) {
    g_sched.reach(reached);
  } else {
    g_sched.reach_uncounted(reached);
  }
  if (intent.object != nullptr)
    g_sched.announce(reached.step, is_event ? Scheduler::Counted::kYes : Scheduler::Counted::kNo);
  g_sched.note_call(op);
}

// The model's answer is part of the hash too.
inline int answer(int result) {
  g_hash.fold(static_cast<std::uint64_t>(result));
  g_sched.announce_result(static_cast<std::uint64_t>(result));
  return result;
}

// Error numbers to the convention of -1 and errno.
inline int answer_errno(int error) {
  answer(error);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace clew::rt

#define CLEW_CALLER \
  ::clew::rt::caller_in_program(__builtin_return_address(0), __builtin_frame_address(0))
// At the head of an interposed function: off to libc when clew is not in charge, otherwise an
// event.
#define CLEW_ENTER(name, ...) CLEW_ENTER_WITH(::clew::rt::Intent{}, name __VA_OPT__(, ) __VA_ARGS__)
// The same with an Intent.
#define CLEW_ENTER_WITH(intent, name, ...)                                 \
  if (!::clew::rt::g_sched.active) return CLEW_REAL(name)(__VA_ARGS__);    \
  do {                                                                     \
    constexpr std::uint64_t clew_operation = ::clew::rt::operation(#name); \
    ::clew::rt::enter(clew_operation, CLEW_CALLER, intent);                \
  } while (0)

#endif  // CLEW_RUNTIME_INTERCEPT_CALL_H_
