// What libc gives a thread: a stack and a thread control block with its thread-local storage. They
// are made by libc's own pthread_create on a kernel thread that ends at once and leaves them
// behind.
#ifndef CLEW_RUNTIME_INTERCEPT_THREAD_BLOCK_H_
#define CLEW_RUNTIME_INTERCEPT_THREAD_BLOCK_H_

#include <pthread.h>

#include "runtime/sched/fiber.h"

namespace clew::rt {

// Makes the calling kernel thread the main fiber.
Fiber* adopt_main_thread();

// Gives the thread a block: one of the pool if it asks for nothing special, otherwise a new one.
// libc's error number. REQUIRES: `attributes` are not those of a detached thread.
int give_block(Fiber& fiber, const pthread_attr_t* attributes);

// Makes blocks in advance: making one takes tens of microseconds and a mapping of its own, which a
// program that is run ten thousand times a second cannot afford.
void fill_pool(std::uint32_t count);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_THREAD_BLOCK_H_
