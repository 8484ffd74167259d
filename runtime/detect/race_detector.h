// Data races by the happens-before relation: two accesses to the same byte by two threads, at least
// one of them a write and not both atomic, neither of which happens before the other (C++20,
// [intro.races]). A pure function of the events that it is told of.
//
// The last accesses to each granule of 8 bytes are kept with the bytes that they touch: of each kind
// the newest for as long as they are ordered, more where threads read concurrently. This is FastTrack
// (Flanagan and Freund 2009) with these deviations: epochs for ranges of bytes instead of variables;
// concurrent reads are a list of epochs, so that each keeps its place; atomic accesses are accesses of
// kinds of their own, because they conflict with plain ones only.
//
// For each byte: a race is reported if and only if there is one (race_detector_test.cc compares with
// all pairs of accesses). Which one of several is reported is not said.
#ifndef CLEW_RUNTIME_DETECT_RACE_DETECTOR_H_
#define CLEW_RUNTIME_DETECT_RACE_DETECTOR_H_

#include "clew_abi/point.h"
#include "runtime/detect/shadow.h"
#include "runtime/detect/vector_clock.h"

namespace clew::rt {

enum class AccessKind : std::uint8_t { kRead, kWrite, kAtomicRead, kAtomicWrite };

inline bool conflicts(AccessKind a, AccessKind b) {
  const bool writes = a == AccessKind::kWrite || a == AccessKind::kAtomicWrite ||
                      b == AccessKind::kWrite || b == AccessKind::kAtomicWrite;
  const bool atomic = a >= AccessKind::kAtomicRead && b >= AccessKind::kAtomicRead;
  return writes && !atomic;
}

// What is known of an access, 24 bytes.
struct Seen {
  std::uint64_t event : 48;  // the clock
  std::uint64_t bytes : 8;   // of the granule: a bit for each; 0: nothing is seen here
  AccessKind kind : 8;
  std::uint32_t epoch;
  std::uint32_t point;  // yield point; 0: none
  std::uint16_t thread;
  std::uint16_t locks;  // what the thread held: a number of the caller's
  std::uint32_t unused;
};
static_assert(sizeof(Seen) == 24);

class RaceDetector {
 public:
  struct Access {
    std::uint32_t thread;
    AccessKind kind;
    std::uintptr_t address;
    std::uint64_t size;
    std::uint64_t event;
    std::uint32_t point;
    std::uint16_t locks;
  };
  // The bytes from `address` on, within one granule.
  using Report = void (*)(void* context, const Seen& earlier, const Access& later,
                          std::uintptr_t address, std::uint32_t size);

  RaceDetector(Report report, void* context) : report_(report), context_(context) {}
  constexpr RaceDetector() = default;
  void on_race(Report report, void* context) {
    report_ = report;
    context_ = context;
  }

  void access(const Access& access);
  // An atomic access, and what it orders by its memory order. `stores`: it does not read.
  enum class Atomic : std::uint8_t { kLoad, kStore, kUpdate };
  void atomic(const Access& access, Atomic what, abi::MemoryOrder order);
  void fence(std::uint32_t thread, abi::MemoryOrder order);

  void created(std::uint32_t parent, std::uint32_t thread);
  void joined(std::uint32_t thread, std::uint32_t ended);

  // What the thread did happens before what others do after they acquire from the same object.
  void release(std::uint32_t thread, std::uintptr_t object);
  void acquire(std::uint32_t thread, std::uintptr_t object);
  // The read side of a lock: it is not ordered with other reads.
  void release_read(std::uint32_t thread, std::uintptr_t object);
  // ... and the write side is ordered with both.
  void acquire_write(std::uint32_t thread, std::uintptr_t object);

  // The memory is used for something else from now on.
  void forget(std::uintptr_t begin, std::uint64_t size);

  // Whether the first access of the thread is known to happen before the second one's thread.
  bool happens_before(const Seen& earlier, std::uint32_t thread) const {
    return earlier.thread == thread || earlier.epoch <= clock_of(thread).of(earlier.thread);
  }

 private:
  struct More {
    Seen seen;
    More* next;
  };
  // Of an object that threads synchronise by. There may be several in a granule.
  struct Object {
    Object* next;
    std::uintptr_t address;
    VectorClock released;
    VectorClock reads;               // by release_read
    std::uint32_t last_store = ~0u;  // thread
  };
  static constexpr unsigned kSeen = 2;
  struct Cell {
    Seen seen[kSeen];
    More* more;
    Object* objects;
  };
  static_assert(sizeof(Cell) == 64);
  struct Thread {
    VectorClock clock;
    VectorClock to_acquire;      // by relaxed loads, for a fence to come
    VectorClock fence_released;  // at the last release fence
    bool has_fence = false;
  };
  static constexpr std::uint32_t kMaxThreads = 1u << 16;

  Thread& thread_of(std::uint32_t thread);
  const VectorClock& clock_of(std::uint32_t thread) const { return threads_[thread]->clock; }
  void look(Cell& cell, const Access& access, const Thread& thread, std::uintptr_t granule,
            std::uint32_t bytes);
  bool compare(Seen& seen, const Access& access, const Thread& thread, std::uintptr_t granule,
               std::uint32_t bytes);
  void keep(Cell& cell, const Seen& seen);
  Object* object_at(std::uintptr_t address);
  Object* find_object(std::uintptr_t address) const;
  static void drop_objects(Cell& cell, std::uintptr_t begin, std::uintptr_t end);

  Report report_ = nullptr;
  void* context_ = nullptr;
  Shadow<Cell> shadow_;
  Thread** threads_ = nullptr;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_RACE_DETECTOR_H_
