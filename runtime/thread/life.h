// The two ends of a thread's life, which the folders above arrange.
#ifndef CLEW_RUNTIME_THREAD_LIFE_H_
#define CLEW_RUNTIME_THREAD_LIFE_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

// Filled in when the runtime takes over. Neither function returns.
struct ThreadLife {
  // The thread runs for the first time, on its own stack.
  void (*run)(Fiber& fiber) = nullptr;
  // The running thread, whose result is known, is unwound and ends.
  void (*unwind)() = nullptr;
};
extern ThreadLife g_thread_life;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_THREAD_LIFE_H_
