// Shared by the files about threads: thread.cc, thread_end.cc, cancel.cc, c11.cc.
#ifndef CLEW_RUNTIME_INTERCEPT_THREAD_H_
#define CLEW_RUNTIME_INTERCEPT_THREAD_H_

#include <pthread.h>

#include "runtime/sched/fiber.h"

namespace clew::rt {

// All return an error number.
int create_thread(pthread_t* out, const pthread_attr_t* attributes, void* (*start)(void*),
                  void* argument);
int join_thread(pthread_t handle, void** result, Nanos deadline);
int detach_thread(pthread_t handle);

// What a step names a thread by: its index. Null: there is no such thread.
void* thread_object(pthread_t handle);
// Whether a thread that is about to join `reached.step.object` would get it at once (Reached::can_proceed).
bool has_ended(const Fiber& waiting);

// REQUIRES: no thread but the first.
void resolve_thread_end();
// Runs a thread from its first step to its end (ThreadLife).
[[noreturn]] void run_thread(Fiber& fiber);
// The running thread returns from its start routine, or has been unwound to it.
[[noreturn]] void end_thread(void* result);
// Unwinds the running thread, whose result is known.
[[noreturn]] void unwind_thread();

int create_key(pthread_key_t* key, void (*destructor)(void*));
int delete_key(pthread_key_t key);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_THREAD_H_
