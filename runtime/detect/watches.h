// The watches that are built in (`--watch races,lock-order,memory`): what happens, told to the
// detectors, and what they find, reported.
#ifndef CLEW_RUNTIME_DETECT_WATCHES_H_
#define CLEW_RUNTIME_DETECT_WATCHES_H_

#include "runtime/detect/findings.h"
#include "runtime/detect/freed_memory.h"
#include "runtime/detect/lock_order.h"
#include "runtime/detect/race_detector.h"
#include "runtime/event/listener.h"

namespace clew::rt {

// Pairs of numbers that were seen.
class SeenPairs {
 public:
  // Whether it is new. Remembers as many as can be reported, and some more.
  bool add(std::uint64_t a, std::uint64_t b);

 private:
  static constexpr std::uint32_t kMost = 4096;
  struct Pair {
    std::uint64_t a, b;
  };
  Pair pairs_[kMost] = {};
  std::uint32_t count_ = 0;
};

class RaceWatch final : public Listener {
 public:
  Hearing hearing() const;
  void before(const Event& event) override;
  void accesses(const PlainAccess& access) override;
  void created(const ThreadCreated& thread) override;
  void synchronised(const Synchronised& what) override;
  void changed(const MemoryChange& change) override;

 private:
  static void found(void* self, const Seen& earlier, const RaceDetector::Access& later,
                    std::uintptr_t address, std::uint32_t size);
  RaceDetector::Access access_of(std::uint32_t thread, AccessKind kind, std::uintptr_t address,
                                 std::uint64_t size, Clock clock, abi::Place place);
  void tell_if_exhausted();
  void look_at_object(const Event& event);
  HeldLocks& locks_of(std::uint32_t thread);
  void take_lock(const Synchronised& what);
  void release_lock(const Synchronised& what);

  RaceDetector detector_;
  Locksets sets_;
  HeldLocks** locks_ = nullptr;
  SeenPairs reported_;
  bool told_exhausted_ = false;
};

class LockOrderWatch final : public Listener {
 public:
  Hearing hearing() const;
  void before(const Event& event) override;
  void created(const ThreadCreated& thread) override;
  void synchronised(const Synchronised& what) override;
  void changed(const MemoryChange& change) override;

 private:
  static void found(void* self, const LockOrder::Step* const* steps, std::uint32_t count);

  LockOrder order_;
  SeenPairs reported_;
};

class MemoryWatch final : public Listener {
 public:
  Hearing hearing() const;
  void before(const Event& event) override;
  void accesses(const PlainAccess& access) override;
  void changed(const MemoryChange& change) override;

 private:
  void use(const FindingSite& site);
  void report(const FreedMemory::Block& block, const FindingSite& now);

  FreedMemory memory_;
  // Where the running thread is about to free.
  struct Freeing {
    std::uintptr_t address = 0;
    std::uint32_t thread = 0;
    std::uint64_t event = 0;
    abi::Place place = 0;
  } freeing_;
  SeenPairs reported_;
};

// Adds those that the control memory asks for to the list. Their state is of one run: it begins
// empty.
void add_watches(const abi::Control& control);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_WATCHES_H_
