#include "runtime/detect/lock_order.h"

#include <gtest/gtest.h>

#include <string>

namespace clew::rt {
namespace {

constexpr std::uintptr_t kA = 0x1000, kB = 0x2000, kC = 0x3000, kGate = 0x4000;

class Order {
 public:
  Order() {
    order.on_cycle(
        [](void* self, const LockOrder::Step* const* steps, std::uint32_t count) {
          auto& text = static_cast<Order*>(self)->cycles;
          text += " [";
          for (std::uint32_t i = 0; i < count; ++i)
            text += std::to_string(steps[i]->thread) + ":" + std::to_string(steps[i]->held >> 12) +
                    std::to_string(steps[i]->taken >> 12) + (i + 1 < count ? " " : "");
          text += "]";
        },
        this);
    order.created(0, 1);
    order.created(0, 2);
    order.created(0, 3);
  }
  Order& take(std::uint32_t thread, std::uintptr_t lock, abi::WaitKind kind = abi::WaitKind::kMutex,
              bool waits = true) {
    order.taken({thread, lock, kind, waits, ++event, 0});
    return *this;
  }
  Order& release(std::uint32_t thread, std::initializer_list<std::uintptr_t> locks) {
    for (const std::uintptr_t lock : locks) order.released(thread, lock);
    return *this;
  }
  LockOrder order;
  std::string cycles;
  std::uint64_t event = 0;
};

TEST(LockOrder, OppositeOrdersOfTwoThreads) {
  Order o;
  o.take(1, kA).take(1, kB).release(1, {kB, kA});
  EXPECT_EQ(o.cycles, "");
  o.take(2, kB).take(2, kA).release(2, {kA, kB});
  EXPECT_EQ(o.cycles, " [2:21 1:12]");
}

TEST(LockOrder, OneThreadAloneCannotDeadlock) {
  Order o;
  o.take(1, kA).take(1, kB).release(1, {kB, kA});
  o.take(1, kB).take(1, kA).release(1, {kA, kB});
  EXPECT_EQ(o.cycles, "");
}

TEST(LockOrder, ThreeThreads) {
  Order o;
  o.take(1, kA).take(1, kB).release(1, {kB, kA});
  o.take(2, kB).take(2, kC).release(2, {kC, kB});
  o.take(3, kC).take(3, kA).release(3, {kA, kC});
  EXPECT_EQ(o.cycles, " [3:31 1:12 2:23]");
}

TEST(LockOrder, AGateLockKeepsThemApart) {
  Order o;
  o.take(1, kGate).take(1, kA).take(1, kB).release(1, {kB, kA, kGate});
  o.take(2, kGate).take(2, kB).take(2, kA).release(2, {kA, kB, kGate});
  EXPECT_EQ(o.cycles, "");
}

TEST(LockOrder, AGateThatBothOnlyReadDoesNot) {
  Order o;
  o.take(1, kGate, abi::WaitKind::kReadLock).take(1, kA).take(1, kB).release(1, {kB, kA, kGate});
  o.take(2, kGate, abi::WaitKind::kReadLock).take(2, kB).take(2, kA).release(2, {kA, kB, kGate});
  EXPECT_EQ(o.cycles, " [2:21 1:12]");
}

TEST(LockOrder, ThreadsThatAreJoinedFirstCannotMeet) {
  Order o;
  o.take(1, kA).take(1, kB).release(1, {kB, kA});
  o.order.joined(0, 1);
  o.order.created(0, 4);
  o.take(4, kB).take(4, kA).release(4, {kA, kB});
  EXPECT_EQ(o.cycles, "");
  o.take(2, kB).take(2, kA);
  EXPECT_EQ(o.cycles, " [2:21 1:12]");
}

TEST(LockOrder, TryingDoesNotWait) {
  Order o;
  o.take(1, kA).take(1, kB, abi::WaitKind::kMutex, false).release(1, {kB, kA});
  o.take(2, kB).take(2, kA).release(2, {kA, kB});
  EXPECT_EQ(o.cycles, "");
}

TEST(LockOrder, ReadersDoNotWaitForEachOther) {
  Order o;
  const auto read = abi::WaitKind::kReadLock;
  o.take(1, kA, read).take(1, kB, read).release(1, {kB, kA});
  o.take(2, kB, read).take(2, kA, read).release(2, {kA, kB});
  EXPECT_EQ(o.cycles, "");
  o.take(3, kB, abi::WaitKind::kWriteLock).take(3, kA, abi::WaitKind::kWriteLock);
  EXPECT_EQ(o.cycles, " [3:21 1:12]");
}

TEST(LockOrder, ALockAtTheSameAddressIsAnother) {
  Order o;
  o.take(1, kA).take(1, kB).release(1, {kB, kA});
  o.order.forget(kA, 40);
  o.take(2, kB).take(2, kA).release(2, {kA, kB});
  EXPECT_EQ(o.cycles, "");
}

}  // namespace
}  // namespace clew::rt
