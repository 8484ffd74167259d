// What libc gives a thread: a stack and a thread control block with its thread-local storage. They
// are made by libc's own pthread_create on a kernel thread that ends at once and leaves them
// behind; another kernel thread takes libc's way out of it when they are given back.
#ifndef CLEW_RUNTIME_THREAD_THREAD_BLOCK_H_
#define CLEW_RUNTIME_THREAD_THREAD_BLOCK_H_

#include <pthread.h>

#include "runtime/sched/fiber.h"

namespace clew::rt {

// Makes the calling kernel thread the main fiber.
Fiber* adopt_main_thread();
// The number that the main thread is to have, which is the process's; a replay has another process.
void set_main_number(Fiber& fiber, int number);

// The same for the only thread of a copy of the program. Those that it makes get numbers that no
// other process's threads have: they may share locks, which tell their holders by them.
void set_number_of_copy(Fiber& fiber, int number);

// Gives the thread a block: one of the pool if it asks for nothing special, otherwise a new one.
// libc's error number. REQUIRES: `attributes` are not those of a detached thread.
int give_block(Fiber& fiber, const pthread_attr_t* attributes);

// A thread that has its thread control block already: its number, its handle, its variables of
// ours.
void use_thread_pointer(Fiber& fiber, std::uintptr_t thread_pointer);

// The thread is over: libc frees what it keeps for it (caches of malloc, ...), its stack and its
// thread-local storage. REQUIRES: it is not the running one, its block is not of the pool.
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
