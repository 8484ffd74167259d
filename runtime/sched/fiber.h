// A thread of the program: a fiber with a full glibc thread control block.
#ifndef CLEW_RUNTIME_SCHED_FIBER_H_
#define CLEW_RUNTIME_SCHED_FIBER_H_

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unwind.h>

#include "clew_abi/point.h"
#include "clew_abi/stream.h"
#include "runtime/event/step.h"
#include "runtime/fiber/context.h"
#include "runtime/fiber/own_stack.h"
#include "runtime/rt.h"
#include "runtime/sched/wait.h"

namespace clew::rt {

enum class FiberState : std::uint8_t { kRunning, kRunnable, kBlocked, kFinished, kNotStarted };

// A lock that the thread holds, for deadlock reports.
struct HeldLock {
  const void* object;
  abi::WaitKind kind;
  Clock taken_at;
  std::uintptr_t taken_by;  // code address
};

// Where a thread stands: the event that it has reached but not passed. Written by
// Scheduler::reach(), and nowhere else but where a handler of a signal interrupts it.
struct Reached {
  abi::Place place = 0;
  // What the thread is about to do. Without an object it is no scheduling point.
  Step step = {};
  // Whether it can do so now: a lock may be held. Null: it can.
  bool (*can_proceed)(const Fiber&) = nullptr;
};

// What has happened to a thread since the last event that it executed itself.
struct SinceOwnEvent {
  std::uint64_t own_event = 0;  // that it stands before; otherwise the rest is out of date
  std::uint32_t questions = 0;  // that it has asked, but kCas
  std::uint32_t preemptions = 0;
};

// Of signal/signals.h.
struct SignalState {
  std::uint64_t mask = 0;
  std::uint64_t waited_for = 0;  // while it waits in sigwait and the like
  stack_t stack = {};            // sigaltstack; of size 0: none
};

// Whether and when a thread lets itself be cancelled. libc's own bits are not used.
struct Cancellation {
  bool pending = false;
  bool disabled = false;
  bool asynchronous = false;
  bool ending = false;  // it is being unwound or has ended: too late
};

// What the program has been told about scheduling. It has no effect but on the answers.
struct SchedulingWish {
  int policy = SCHED_OTHER;
  int priority = 0;
  bool has_affinity = false;
  cpu_set_t affinity = {};
};

// The thread is in a handler of the program's, which the runtime called from its own stack.
struct CallOfProgram {
  CallOfProgram* outer;
  std::uintptr_t own_top;    // before it
  std::uintptr_t stack;      // the program's, where it was interrupted
  std::uintptr_t* way_back;  // on the program's stack (clew_call_on_stack)
};

// The deadline that a thread has last waited for, and whether it is only there in case all else
// fails (Scheduler::time_ran_out_early).
struct TimeLimit {
  Nanos deadline = kForever;
  bool is_for_safety = false;
};

struct TaskThread;  // of sync/tasks.h

struct Fiber {
  abi::WaitKind wait_kind() const { return wait != nullptr ? wait->kind : abi::WaitKind::kNothing; }
  const void* wait_object() const {
    if (wait == nullptr) return nullptr;
    return wait->object != nullptr ? wait->object : wait->about;
  }

  Context context;
  OwnStack own_stack;
  // Where this thread's own copies of the two thread-local variables of clew_abi/hooks.def are.
  std::int64_t* countdown = nullptr;
  const abi::Point** call_site = nullptr;

  std::uint32_t index = 0;  // order of creation
  abi::ThreadKey key = 0;
  std::uint32_t children = 0;  // threads it has created
  FiberState state = FiberState::kNotStarted;
  std::uint32_t no_yield = 0;       // depth of regions without yield points
  std::uint32_t handlers = 0;       // of faults that it is in
  std::uint32_t interruptions = 0;  // signal handlers that it is in, those of faults too

  // Run queue.
  Fiber* next = nullptr;
  Fiber* previous = nullptr;
  // Those that are not gone, in the order of creation.
  Fiber* older = nullptr;
  Fiber* younger = nullptr;

  CallOfProgram* calls = nullptr;  // innermost
  Wait* wait = nullptr;            // innermost; null: it waits for nothing
  TimeLimit limit;
  bool disturbed = false;  // there is a signal or a cancellation to attend to
  SignalState signals;
  // Where a system call continues if an address that the program gave it is bad (EFAULT); valid while
  // `guarded`, when only the runtime's code runs on this thread.
  void* guard[5] = {};
  bool guarded = false;
  bool answered = false;  // what the call gets has been recorded, or taken from the recording

  Reached reached;
  // Events that it executed itself, up to the beginning of its slice.
  std::uint64_t events = 0;
  SinceOwnEvent since;
  Clock slice_begin = 0;
  abi::Place slice_place = 0;

  // The pthread side.
  pthread_t handle = 0;
  void* block = nullptr;  // of thread/thread_block.cc
  int number = 0;         // the thread id in libc's thread control block
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  bool from_pool = false;
  void* robust_list = nullptr;     // as the program has told; null: not since clew took over
  bool cloned = false;             // by the system call: no block of ours
  int* number_to_clear = nullptr;  // when such a thread ends
  bool detached = false;
  Fiber* joiner = nullptr;           // who waits for its end
  void* cleanup = nullptr;           // innermost pthread_cleanup_push of C code
  _Unwind_Exception unwinding = {};  // of pthread_exit: must outlive the frames it unwinds
  char name[16] = {};
  Cancellation cancellation;
  SchedulingWish scheduling;
  Nanos clock_reads = 0;              // time that it has spent on reading its own clock
  pthread_mutex_t* robust = nullptr;  // held robust mutexes, linked by their __list.__next
  TaskThread* tasks = nullptr;        // of OpenMP; null: it has run none

  static constexpr std::size_t kMaxHeld = 64;
  std::uint32_t held_count = 0;  // may exceed kMaxHeld; those beyond are not listed
  HeldLock held[kMaxHeld];
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_FIBER_H_
