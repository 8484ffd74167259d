// The names that a program gives its threads.
#ifndef CLEW_RUNTIME_THREAD_NAMES_H_
#define CLEW_RUNTIME_THREAD_NAMES_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

// As the kernel keeps them: fifteen characters, the rest is cut off.
void set_thread_name(Fiber& fiber, const char* name);
void get_thread_name(const Fiber& fiber, char* out);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_THREAD_NAMES_H_
