// Compared with a reference that keeps every access and a whole vector clock for each.
#include "runtime/detect/race_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/event/stretch.h"

namespace clew::rt {
namespace {

using abi::MemoryOrder;
using Atomic = RaceDetector::Atomic;

constexpr std::uintptr_t kBase = 0x10'0000'0000;

// --- the reference -------------------------------------------------------------------------------

using Clocks = std::map<std::uint32_t, std::uint32_t>;

void join(Clocks& into, const Clocks& from) {
  for (const auto& [thread, time] : from) into[thread] = std::max(into[thread], time);
}

// Happens-before by the definition, without any of the detector's short cuts: each operation is a tick
// of its thread, and all accesses to a byte are compared with all others.
class Reference {
 public:
  void access(std::uint32_t thread, AccessKind kind, std::uintptr_t address, std::uint32_t size) {
    Clocks& now = clocks_[thread];
    ++now[thread];
    for (std::uintptr_t byte = address; byte < address + size; ++byte) {
      for (const Past& past : past_[byte])
        if (past.thread != thread && past.time > now[past.thread] && conflicts(past.kind, kind))
          racy.insert(byte);
      past_[byte].push_back({thread, now[thread], kind});
    }
  }
  void atomic(std::uint32_t thread, Atomic what, MemoryOrder order, std::uintptr_t address) {
    const AccessKind kind =
        what == Atomic::kLoad ? AccessKind::kAtomicRead : AccessKind::kAtomicWrite;
    access(thread, kind, address, 4);
    const bool acquires = order == MemoryOrder::kAcquire || order == MemoryOrder::kAcquireRelease ||
                          order == MemoryOrder::kSequential;
    const bool releases = order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease ||
                          order == MemoryOrder::kSequential;
    // Nothing is known of an object before somebody releases it.
    const bool makes = what != Atomic::kLoad && (releases || !fenced_[thread].empty());
    if (!makes && !cells_.contains(address)) return;
    Cell& cell = cells_[address];
    if (what != Atomic::kStore) join(acquires ? clocks_[thread] : pending_[thread], cell.released);
    if (what == Atomic::kLoad) return;
    if (what == Atomic::kStore && cell.last != thread) cell.released.clear();
    if (what == Atomic::kStore) cell.last = thread;
    if (releases)
      join(cell.released, clocks_[thread]);
    else
      join(cell.released, fenced_[thread]);
    ++clocks_[thread][thread];
  }
  void fence(std::uint32_t thread, MemoryOrder order) {
    if (order != MemoryOrder::kRelease) join(clocks_[thread], pending_[thread]);
    if (order != MemoryOrder::kAcquire) fenced_[thread] = clocks_[thread];
    ++clocks_[thread][thread];
  }
  void release(std::uint32_t thread, std::uintptr_t object) {
    join(objects_[object], clocks_[thread]);
    ++clocks_[thread][thread];
  }
  void acquire(std::uint32_t thread, std::uintptr_t object) {
    join(clocks_[thread], objects_[object]);
  }
  void created(std::uint32_t parent, std::uint32_t thread) {
    join(clocks_[thread], clocks_[parent]);
    ++clocks_[parent][parent];
  }
  void joined(std::uint32_t thread, std::uint32_t ended) { join(clocks_[thread], clocks_[ended]); }
  void forget(std::uintptr_t begin, std::uint64_t size) {
    for (std::uintptr_t byte = begin; byte < begin + size; ++byte) past_.erase(byte);
    for (std::uintptr_t byte = begin; byte < begin + size; ++byte) cells_.erase(byte);
  }

  std::set<std::uintptr_t> racy;

 private:
  struct Past {
    std::uint32_t thread, time;
    AccessKind kind;
  };
  struct Cell {
    Clocks released;
    std::uint32_t last = ~0u;
  };
  std::map<std::uint32_t, Clocks> clocks_, pending_, fenced_;
  std::map<std::uintptr_t, Clocks> objects_;
  std::map<std::uintptr_t, Cell> cells_;
  std::map<std::uintptr_t, std::vector<Past>> past_;
};

// --- the detector, with the bytes that it reports ------------------------------------------------

struct Watched {
  Watched() {
    detector.on_race(
        [](void* self, const Seen& earlier, const RaceDetector::Access& later,
           std::uintptr_t address, std::uint32_t size) {
          EXPECT_NE(earlier.thread, later.thread);
          for (std::uint32_t i = 0; i < size; ++i)
            static_cast<Watched*>(self)->racy.insert(address + i);
        },
        this);
  }
  RaceDetector::Access make(std::uint32_t thread, AccessKind kind, std::uintptr_t address,
                            std::uint32_t size) {
    return {thread, kind, address, size, ++event, 1, 0};
  }
  void access(std::uint32_t thread, AccessKind kind, std::uintptr_t address, std::uint32_t size) {
    detector.access(make(thread, kind, address, size));
  }

  RaceDetector detector;
  std::uint64_t event = 0;
  std::set<std::uintptr_t> racy;
};

TEST(RaceDetector, TwoWritesWithoutOrderRace) {
  Watched watched;
  watched.detector.created(0, 1);
  watched.access(0, AccessKind::kWrite, kBase, 4);
  watched.access(1, AccessKind::kWrite, kBase + 2, 4);
  EXPECT_EQ(watched.racy, (std::set<std::uintptr_t>{kBase + 2, kBase + 3}));
}

TEST(RaceDetector, CreationAndJoinOrder) {
  Watched watched;
  watched.access(0, AccessKind::kWrite, kBase, 8);
  watched.detector.created(0, 1);
  watched.access(1, AccessKind::kWrite, kBase, 8);
  watched.detector.joined(0, 1);
  watched.access(0, AccessKind::kRead, kBase, 8);
  EXPECT_TRUE(watched.racy.empty());
}

TEST(RaceDetector, NeighboursDoNotRace) {
  Watched watched;
  watched.detector.created(0, 1);
  for (std::uint32_t i = 0; i < 8; ++i) watched.access(i % 2, AccessKind::kWrite, kBase + i, 1);
  EXPECT_TRUE(watched.racy.empty());
}

TEST(RaceDetector, ReadersOfALockAreOrderedWithWritersOnly) {
  Watched watched;
  RaceDetector& d = watched.detector;
  d.created(0, 1);
  d.created(0, 2);
  // Two readers that write the same byte, each under the read lock: a race.
  for (const std::uint32_t thread : {1u, 2u}) {
    d.acquire(thread, kBase + 64);
    watched.access(thread, AccessKind::kWrite, kBase, 1);
    d.release_read(thread, kBase + 64);
  }
  EXPECT_EQ(watched.racy, std::set<std::uintptr_t>{kBase});
  watched.racy.clear();
  d.acquire_write(0, kBase + 64);
  watched.access(0, AccessKind::kWrite, kBase, 1);
  EXPECT_TRUE(watched.racy.empty());
}

TEST(RaceDetector, ARelaxedFlagOrdersNothingAndAnAcquiredOneDoes) {
  for (const bool acquires : {false, true}) {
    Watched watched;
    watched.detector.created(0, 1);
    watched.access(0, AccessKind::kWrite, kBase, 4);
    watched.detector.atomic(watched.make(0, AccessKind::kAtomicWrite, kBase + 8, 4), Atomic::kStore,
                            MemoryOrder::kRelease);
    watched.detector.atomic(watched.make(1, AccessKind::kAtomicRead, kBase + 8, 4), Atomic::kLoad,
                            acquires ? MemoryOrder::kAcquire : MemoryOrder::kRelaxed);
    watched.access(1, AccessKind::kRead, kBase, 4);
    EXPECT_EQ(watched.racy.empty(), acquires);
  }
}

TEST(RaceDetector, FencesOrderRelaxedAccesses) {
  Watched watched;
  RaceDetector& d = watched.detector;
  d.created(0, 1);
  watched.access(0, AccessKind::kWrite, kBase, 4);
  d.fence(0, MemoryOrder::kRelease);
  d.atomic(watched.make(0, AccessKind::kAtomicWrite, kBase + 8, 4), Atomic::kStore,
           MemoryOrder::kRelaxed);
  d.atomic(watched.make(1, AccessKind::kAtomicRead, kBase + 8, 4), Atomic::kLoad,
           MemoryOrder::kRelaxed);
  d.fence(1, MemoryOrder::kAcquire);
  watched.access(1, AccessKind::kRead, kBase, 4);
  EXPECT_TRUE(watched.racy.empty());
}

TEST(RaceDetector, MemoryThatIsReusedIsOther) {
  Watched watched;
  watched.detector.created(0, 1);
  watched.access(0, AccessKind::kWrite, kBase, 64);
  watched.detector.forget(kBase, 64);
  watched.access(1, AccessKind::kWrite, kBase, 64);
  EXPECT_TRUE(watched.racy.empty());
}

// What a watched run tells a detector: no accesses that repeat (event/stretch.h).
class WithoutRepetitions {
 public:
  explicit WithoutRepetitions(Stretch& stretch) : stretch_(stretch) { stretch_.begin(); }
  void runs(std::uint32_t thread) {
    if (thread != thread_) stretch_.begin();
    thread_ = thread;
  }
  void access(std::uint32_t thread, AccessKind kind, std::uintptr_t address, std::uint32_t size) {
    const auto access =
        kind == AccessKind::kWrite ? Stretch::Access::kWrite : Stretch::Access::kRead;
    if (stretch_.repeats(address, size, access)) {
      ++left_out;
    } else {
      watched.access(thread, kind, address, size);
    }
  }
  void atomic(std::uint32_t thread, AccessKind kind, std::uintptr_t address, Atomic what,
              MemoryOrder order) {
    if (order != MemoryOrder::kRelaxed) stretch_.begin();
    watched.detector.atomic(watched.make(thread, kind, address, 4), what, order);
  }
  // Of the detector, that synchronises.
  template <class... A>
  void tell(void (RaceDetector::*function)(A...), A... arguments) {
    stretch_.begin();
    (watched.detector.*function)(arguments...);
  }
  void forget(std::uintptr_t begin, std::uint64_t size) {
    stretch_.forget(begin, size);
    watched.detector.forget(begin, size);
  }

  Watched watched;
  std::uint64_t left_out = 0;

 private:
  Stretch& stretch_;
  std::uint32_t thread_ = 0;
};

// Random events of a few threads on a few bytes: the detector reports a race on a byte if and only if
// the reference finds one, whether or not it hears of accesses that repeat.
TEST(RaceDetector, AgreesWithAllPairsOfAccesses) {
  std::uint64_t racy_bytes = 0;
  std::uint64_t clean_runs = 0;
  std::uint64_t left_out = 0;
  Stretch stretch;
  stretch.keep();
  // Each of the two detectors takes some megabytes of the arena, which has 4 GB and gives nothing back.
  for (std::uint64_t seed = 1; seed <= 340; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    // Each run has memory of its own: what the one before it left does not matter.
    const std::uintptr_t base = kBase + seed * 4096;
    const std::uint32_t threads = 2 + below(4);
    const std::uint32_t steps = 4 + below(80);
    const std::uint32_t share = 1 + below(8);  // how many of the events are accesses, of 10
    Watched watched;
    WithoutRepetitions filtered(stretch);
    Reference reference;
    std::set<std::uint32_t> alive{0};
    for (std::uint32_t t = 1; t < threads; ++t) {
      alive.insert(t);
      watched.detector.created(0, t);
      filtered.tell(&RaceDetector::created, 0u, t);
      reference.created(0, t);
    }
    constexpr MemoryOrder kOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kAcquire,
                                       MemoryOrder::kRelease, MemoryOrder::kAcquireRelease,
                                       MemoryOrder::kSequential};
    std::uint32_t t = 0;
    for (std::uint32_t i = 0; i < steps; ++i) {
      // Half of the time the thread that ran last continues.
      if (i == 0 || !alive.contains(t) || below(2) == 0)
        t = *std::next(alive.begin(), below(static_cast<std::uint32_t>(alive.size())));
      const std::uintptr_t object = base + 1024 + 8 * below(3);
      filtered.runs(t);
      if (below(10) < share) {
        const std::uint32_t size = 1u << below(4);
        const std::uintptr_t address = base + below(20);
        const auto kind = below(3) == 0 ? AccessKind::kWrite : AccessKind::kRead;
        watched.access(t, kind, address, size);
        filtered.access(t, kind, address, size);
        reference.access(t, kind, address, size);
        continue;
      }
      switch (below(8)) {
        case 0:
          watched.detector.release(t, object);
          filtered.tell(&RaceDetector::release, t, object);
          reference.release(t, object);
          break;
        case 1:
          watched.detector.acquire(t, object);
          filtered.tell(&RaceDetector::acquire, t, object);
          reference.acquire(t, object);
          break;
        case 2: {
          const MemoryOrder order = kOrders[1 + below(4)];
          watched.detector.fence(t, order);
          filtered.tell(&RaceDetector::fence, t, order);
          reference.fence(t, order);
          break;
        }
        case 3: {
          const std::uint32_t ended = below(threads);
          if (ended == t || below(4) != 0) break;
          alive.erase(ended);
          watched.detector.joined(t, ended);
          filtered.tell(&RaceDetector::joined, t, ended);
          reference.joined(t, ended);
          break;
        }
        case 4:
          if (below(8) != 0) break;
          watched.detector.forget(base, 16);
          filtered.forget(base, 16);
          reference.forget(base, 16);
          break;
        default: {
          const auto what = static_cast<Atomic>(below(3));
          // A load that releases, or a store that acquires, is not in the language.
          const MemoryOrder order = what == Atomic::kLoad    ? kOrders[below(2)]
                                    : what == Atomic::kStore ? kOrders[2 * below(2)]
                                                             : kOrders[below(5)];
          const std::uintptr_t address = base + 4 * below(5);
          const auto kind =
              what == Atomic::kLoad ? AccessKind::kAtomicRead : AccessKind::kAtomicWrite;
          watched.detector.atomic(watched.make(t, kind, address, 4), what, order);
          filtered.atomic(t, kind, address, what, order);
          reference.atomic(t, what, order, address);
        }
      }
    }
    ASSERT_EQ(watched.racy, reference.racy) << "seed " << seed;
    ASSERT_EQ(filtered.watched.racy, reference.racy) << "seed " << seed;
    left_out += filtered.left_out;
    racy_bytes += reference.racy.size();
    clean_runs += reference.racy.empty() ? 1 : 0;
  }
  // Both kinds occur.
  EXPECT_GT(racy_bytes, 250u);
  EXPECT_GT(clean_runs, 25u);
  EXPECT_GT(left_out, 150u);
}

}  // namespace
}  // namespace clew::rt
