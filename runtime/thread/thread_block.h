// What libc gives a thread: a stack and a thread control block with its thread-local storage. They
// are made by libc's own pthread_create on a kernel thread that ends at once and leaves them
// behind; when they are given back, another kernel thread takes libc's way out.
#ifndef CLEW_RUNTIME_THREAD_THREAD_BLOCK_H_
#define CLEW_RUNTIME_THREAD_THREAD_BLOCK_H_

#include <pthread.h>

#include "runtime/sched/fiber.h"

namespace clew::rt {

// Makes the calling kernel thread the main fiber.
Fiber* adopt_main_thread();
// Sets the number of the main thread, which is the process's; in a replay the process has another.
void set_main_number(Fiber& fiber, int number);
// Whether the thread has this number, or had it in a process from which this one was forked to
// continue the run (snapshot/): what it locked there is still its own.
bool is_number_of(const Fiber& fiber, int number);

// Sets the number of the only thread of a copy of the program. The threads that it creates get
// numbers that no thread of another process has: they may share locks, which identify their holders
// by them.
void set_number_of_copy(Fiber& fiber, int number);

// Gives the thread a block: one of the pool if it asks for nothing special, otherwise a new one.
// Returns libc's error number. REQUIRES: `attributes` are not those of a detached thread.
int give_block(Fiber& fiber, const pthread_attr_t* attributes);

// For a thread that has its thread control block already: sets its number, its handle, and where
// the runtime's variables are.
void use_thread_pointer(Fiber& fiber, std::uintptr_t thread_pointer);

// The thread has ended: libc frees what it keeps for it (caches of malloc, ...), its stack and its
// thread-local storage. REQUIRES: it is not the running thread, and its block is not of the pool.
void give_back_block(Fiber& fiber);

// Whether libc has switched cancellation off, as it does in functions that are to be no
// cancellation points (sem_open, shm_open, syslog).
bool libc_disables_cancel(const Fiber& fiber);
// Whether libc lets the thread be cancelled at any time, as it does around the system call of a
// function that is a cancellation point.
bool libc_waits_for_cancel(const Fiber& fiber);

// Makes blocks in advance: making one takes tens of microseconds and a mapping of its own, which a
// program that is run ten thousand times a second cannot afford.
void fill_pool(std::uint32_t count);

// libc takes the stacks of the pool for its own, as its fork does in the child: they are not used.
void leave_pool();
// It has taken them, and there is one thread: the pool is filled anew.
void renew_pool();

// While it lives, libc takes the thread to be the running kernel thread, whatever its number.
class AsKernelThread {
 public:
  explicit AsKernelThread(const Fiber& fiber);
  ~AsKernelThread();

 private:
  const Fiber& fiber_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_THREAD_THREAD_BLOCK_H_
