#ifndef CLEW_RUNTIME_INTERCEPT_SANITIZER_H_
#define CLEW_RUNTIME_INTERCEPT_SANITIZER_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

// Places the runtime between the sanitizers, which were initialised before it, and the kernel.
// REQUIRES: the fault handlers are not installed yet.
void watch_sanitizers(Fiber& main);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_SANITIZER_H_
