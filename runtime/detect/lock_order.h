// Cycles in the order in which threads take locks: each of several threads takes a lock while it holds
// the one that the next of them takes. Whether or not a run deadlocks, another schedule may
// (Havelund 2000, Bensalem and Havelund 2005). No cycle is reported that cannot come about for one of
// these reasons:
//   - two of its steps are of the same thread,
//   - two of its threads hold a common lock there (a gate lock) that excludes them from each other,
//   - two of its steps are ordered by the creation or the end of a thread,
//   - what one waits for and the next holds are both the read side of the same lock.
// Locks that are only tried, or waited for with a time limit, cannot keep a thread waiting for ever.
#ifndef CLEW_RUNTIME_DETECT_LOCK_ORDER_H_
#define CLEW_RUNTIME_DETECT_LOCK_ORDER_H_

#include "runtime/detect/locksets.h"
#include "runtime/detect/vector_clock.h"

namespace clew::rt {

class LockOrder {
 public:
  // A thread takes a lock while it holds another.
  struct Step {
    Step* next;  // of those that hold the same lock
    std::uint32_t thread;
    std::uintptr_t held;
    std::uintptr_t taken;
    bool held_reading, taken_reading;
    const Lockset* locks;        // all that it holds
    std::uint32_t segment;       // of the thread: between creations and joins
    const VectorClock* ordered;  // what of the other threads came before
    std::uint64_t event;
    std::uint64_t place;
  };
  // Each takes what the next one holds, and the last what the first holds.
  using Report = void (*)(void* context, const Step* const* steps, std::uint32_t count);

  void on_cycle(Report report, void* context) {
    report_ = report;
    context_ = context;
  }

  struct Taking {
    std::uint32_t thread;
    std::uintptr_t lock;
    abi::WaitKind kind;
    bool waits;  // it may have to wait for ever
    std::uint64_t event;
    std::uint64_t place;
  };
  void taken(const Taking& taking);
  void released(std::uint32_t thread, std::uintptr_t lock);
  void created(std::uint32_t parent, std::uint32_t thread);
  void joined(std::uint32_t thread, std::uint32_t ended);
  // What lies there is gone: a lock at the same address is another.
  void forget(std::uintptr_t begin, std::uint64_t size);

  const Lockset& held_by(std::uint32_t thread) { return thread_of(thread).locks.set(); }

 private:
  static constexpr std::uint32_t kMostSteps = abi::kMaxFindingSites;  // of a cycle
  static constexpr std::uint32_t kMaxThreads = 1u << 16;
  static constexpr std::uint32_t kBuckets = 4096;
  // Bounds the search when a new step is added. Chosen, not measured.
  static constexpr std::uint32_t kMostLooks = 20'000;

  struct Thread {
    HeldLocks locks;
    VectorClock clock;  // by creations and joins alone
    const VectorClock* snapshot = nullptr;
  };
  Thread& thread_of(std::uint32_t thread);
  const VectorClock* snapshot_of(Thread& thread);
  static std::uint32_t bucket_of(std::uintptr_t lock) {
    return static_cast<std::uint32_t>(lock * 0x9e37'79b9'7f4a'7c15 >> 52);
  }
  bool add(const Step& step);
  void search(const Step** path, std::uint32_t length, std::uint32_t& looks);
  static bool can_meet(const Step& a, const Step& b);

  Report report_ = nullptr;
  void* context_ = nullptr;
  Thread** threads_ = nullptr;
  Step* steps_[kBuckets] = {};
  Locksets sets_;
  std::uintptr_t lowest_ = ~std::uintptr_t{0};  // of the locks in steps_
  std::uintptr_t highest_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_LOCK_ORDER_H_
