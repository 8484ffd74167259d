#include "runtime/sched/thread_registry.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace clew::rt {
namespace {

class ThreadRegistryTest : public testing::Test {
 protected:
  ThreadRegistryTest() { registry_.init(main_); }

  Fiber& start(Fiber& parent) {
    Fiber& fiber = registry_.create(parent);
    registry_.note_started();
    return fiber;
  }
  std::string name(const Fiber& fiber) { return name(fiber.index); }
  std::string name(std::uint32_t index) {
    char id[64];
    registry_.name(index, id, sizeof id);
    return id;
  }
  std::string living() {
    std::string ids;
    registry_.for_each_living([&](const Fiber& fiber) { ids += name(fiber) + " "; });
    return ids;
  }

  Fiber main_;
  ThreadRegistry registry_;
};

TEST_F(ThreadRegistryTest, NamesAreThePathOfCreation) {
  EXPECT_EQ(name(main_), "T0");
  Fiber& first = start(main_);
  Fiber& second = start(main_);
  Fiber& grandchild = start(second);
  EXPECT_EQ(name(first), "T0.1");
  EXPECT_EQ(name(second), "T0.2");
  EXPECT_EQ(name(grandchild), "T0.2.1");
  EXPECT_EQ(registry_.parent(grandchild.index), second.index);
  EXPECT_EQ(registry_.ordinal(second.index), 2u);
}

TEST_F(ThreadRegistryTest, KeysFollowFromThePathAlone) {
  Fiber& first = start(main_);
  Fiber& second = start(main_);
  Fiber& of_second = start(second);
  Fiber& of_first = start(first);
  EXPECT_EQ(of_first.key, abi::child_key(abi::child_key(abi::kMainThreadKey, 1), 1));
  EXPECT_EQ(of_second.key, abi::child_key(abi::child_key(abi::kMainThreadKey, 2), 1));
  EXPECT_EQ(registry_.find_by_key(of_first.key), &of_first);
  EXPECT_EQ(registry_.find_by_key(12345), nullptr);
}

TEST_F(ThreadRegistryTest, NamesOutliveThreads) {
  Fiber& first = start(main_);
  const std::uint32_t index = first.index;
  registry_.forget(first);
  EXPECT_EQ(name(index), "T0.1");
  EXPECT_EQ(registry_.fiber(index), nullptr);
  EXPECT_EQ(registry_.count(), 2u);
  EXPECT_EQ(name(start(main_)), "T0.2") << "the number is not given twice";
}

TEST_F(ThreadRegistryTest, FibersAreUsedAgain) {
  Fiber& first = start(main_);
  first.held_count = 3;
  registry_.forget(first);
  Fiber& second = start(main_);
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(second.held_count, 0u);
  EXPECT_EQ(living(), "T0 T0.2 ");
}

TEST_F(ThreadRegistryTest, ACreationThatFailedLeavesNoTrace) {
  Fiber& failed = registry_.create(main_);
  registry_.discard(failed);
  EXPECT_EQ(registry_.count(), 1u);
  EXPECT_EQ(name(start(main_)), "T0.1");
  EXPECT_EQ(living(), "T0 T0.1 ");
}

TEST_F(ThreadRegistryTest, CountsCompany) {
  EXPECT_FALSE(registry_.has_company());
  Fiber& other = start(main_);
  EXPECT_TRUE(registry_.has_company());
  other.state = FiberState::kFinished;
  registry_.note_finished();
  EXPECT_FALSE(registry_.has_company());
  EXPECT_TRUE(registry_.had_company()) << "it has ended, but nobody has waited for that";
  EXPECT_EQ(living(), "T0 ");
  registry_.note_joined();
  EXPECT_FALSE(registry_.had_company());
}

TEST_F(ThreadRegistryTest, ThreadsAreFoundByTheirHandle) {
  Fiber& other = start(main_);
  other.handle = 4711;
  EXPECT_EQ(registry_.find(4711), &other);
  EXPECT_EQ(registry_.find(1), nullptr);
}

TEST_F(ThreadRegistryTest, AllCanBeForgottenWhileTheyAreVisited) {
  for (int i = 0; i < 5; ++i) start(main_);
  registry_.for_each([&](Fiber& fiber) {
    if (&fiber != &main_) registry_.forget(fiber);
  });
  registry_.note_alone();
  EXPECT_EQ(living(), "T0 ");
  EXPECT_FALSE(registry_.had_company());
}

}  // namespace
}  // namespace clew::rt
