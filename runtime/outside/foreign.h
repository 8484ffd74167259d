// Objects that other processes use too (PTHREAD_PROCESS_SHARED, named semaphores): those run
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

// The program has forked. Whoever waits for a shared object looks at it again.
void expect_other_processes();

// For what one of the program's processes at a time may do to something that they share. Not kept
// for ever from one that has ended with it.
class Turn {
 public:
  Turn();
  ~Turn();

 private:
  bool held_ = false;
};

// Whether the number in an object, a thread id, is none of this program's.
bool is_foreign(int number);

// Waits for a shared object until it may have changed: kByObject means "look again".
Woke wait_for_others(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by);

// Wakes threads of other processes that wait for the word; how many.
int wake_others(const void* word, int count);

// Calls a function of libc's for a shared object: what it asks of the kernel is for the others.
template <class T>
int natively(int (*function)(T*), T* object) {
  const Uncaught uncaught;
  return function(object);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_FOREIGN_H_
