// Something that a thread does, as those who listen are told of it (listener.h).
#ifndef CLEW_RUNTIME_EVENT_EVENT_H_
#define CLEW_RUNTIME_EVENT_EVENT_H_

#include "clew_abi/stream.h"
#include "runtime/event/step.h"

namespace clew::rt {

// A thread, by the number that is the same in every run and by the order of creation in this one.
struct ThreadName {
  abi::ThreadKey key = 0;
  std::uint32_t index = 0;
};

// An access, or a call that synchronises. Announced right before the thread executes it, when no
// other thread can come in between any more.
struct Event {
  ThreadName thread = {};
  bool in_handler = false;  // of a signal: it comes between the steps of its thread
  bool alone = false;       // no other thread lives, or has ended without being joined
  // Whether the clock counts it. A lock that is taken again after a wait is announced, but belongs
  // to the event before the wait.
  bool counted = true;
  Clock clock = 0;        // events passed, this one included if it is counted
  std::uint64_t own = 0;  // the same of the thread's own events
  Step step = {};
  std::uint64_t value = 0;  // read or written, or what a call has returned; known afterwards only
};

// An access of compiled code that is not atomic, by a thread that stands at a point: what of an event
// those get to hear who need not hear of repetitions (stretch.h).
struct PlainAccess {
  std::uintptr_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t thread = 0;  // index
  bool writes = false;
  bool alone = false;  // as in Event
  Clock clock = 0;
  abi::Place place = 0;
};

// A scheduling point at which a strategy could decide, and who runs from there.
struct SchedulingPoint {
  ThreadName thread = {};
  Step step = {};  // that it executes next
  Clock clock = 0;
  std::uint64_t own = 0;
  std::uint64_t enabled = 0;  // bit i: the thread with index i could have run, i < 64
  std::uint8_t flags = 0;     // abi::TraceFlags
};

// A preemption, or an answer other than the default to a question, that took effect.
struct DecisionMade {
  ThreadName thread = {};  // that is preempted, or asks
  abi::Place place = 0;
  bool is_preemption = true;
  abi::ChoiceKind kind = abi::ChoiceKind::kPick;  // unless it is a preemption
  Clock event = 0;                                // that comes next; kCas: the one that fails
  std::uint32_t ordinal = 0;                      // among the questions before that event
  std::uint64_t own_event = 0;
  std::uint32_t own_ordinal = 0;
  bool names_thread = false;  // `to` was asked for; otherwise it is merely the next
  ThreadName to = {};         // key 0: none
  std::uint64_t value = 0;    // of the answer
};

// The running thread leaves the processor.
struct SliceEnded {
  ThreadName thread = {};
  Clock first = 0;
  Clock last = 0;
  abi::Place first_place = 0;
  abi::Place last_place = 0;
  abi::SliceEnd why = abi::SliceEnd::kBlocked;
  abi::WaitKind waits_for = abi::WaitKind::kNothing;
  std::uintptr_t object = 0;  // that it waits for; kJoin: the index of the thread
};

struct ThreadCreated {
  ThreadName thread = {};
  std::uint32_t parent = 0;   // index
  std::uint32_t ordinal = 0;  // among the threads that the parent created, from 1
  std::uintptr_t start = 0;   // code
};

// What orders threads, other than accesses: told when it has happened.
struct Synchronised {
  enum class Kind : std::uint8_t {
    kTaken,     // a lock
    kReleased,  // a lock
    kReleases,  // what the thread has done happens before what those do who acquire the object next
    kAcquires,
    kFence,
    kJoined,  // object: the index of the thread that has ended
    kEnded,   // the thread
  };
  ThreadName thread = {};
  Kind kind = Kind::kTaken;
  abi::WaitKind lock = abi::WaitKind::kNothing;
  bool waits = false;  // kTaken: it would have waited for the lock, for as long as it takes
  abi::MemoryOrder order = abi::MemoryOrder::kNotKnown;  // kFence
  std::uintptr_t object = 0;
  Clock clock = 0;
  abi::Place place = 0;
};

// Memory comes to be used for something else.
struct MemoryChange {
  enum class Kind : std::uint8_t {
    kAllocated,
    kFreed,    // told before it is
    kReplaced  // a mapping, the stack of a new thread
  };
  ThreadName thread = {};
  Kind kind = Kind::kAllocated;
  std::uintptr_t address = 0;
  std::uint64_t size = 0;
  Clock clock = 0;
  const void* caller = nullptr;  // code
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_EVENT_H_
