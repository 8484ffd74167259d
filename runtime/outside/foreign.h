// Objects that other processes use too (PTHREAD_PROCESS_SHARED, named semaphores), which run
// without clew. Such an object keeps glibc's layout to the bit, and a thread that waits for one of
// them waits for something from outside.
#ifndef CLEW_RUNTIME_OUTSIDE_FOREIGN_H_
#define CLEW_RUNTIME_OUTSIDE_FOREIGN_H_

#include "runtime/libc/user_dispatch.h"
#include "runtime/sched/wait.h"

namespace clew::rt {

// Whether there are other processes that may use what this one shares. As long as there are none,
// a wait for a shared object that nobody ends is a deadlock.
inline bool g_other_processes = false;

// The program has forked. Threads that wait for a shared object look at it again.
void expect_other_processes();

// Mutual exclusion between the processes of the program, for what they share. A process that has
// ended while it held the turn does not block the others forever.
class Turn {
 public:
  Turn();
  ~Turn();

 private:
  bool held_ = false;
};

// Whether the thread id in an object belongs to another process.
bool is_foreign(int number);

// Waits for a shared object until it may have changed: kByObject means "look again".
Woke wait_for_others(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by);

// Wakes threads of other processes that wait for the word. Returns how many.
int wake_others(const void* word, int count);

// Calls a function of libc for a shared object: its system calls are meant for the other processes.
template <class T>
int natively(int (*function)(T*), T* object) {
  const Uncaught uncaught;
  return function(object);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_FOREIGN_H_
