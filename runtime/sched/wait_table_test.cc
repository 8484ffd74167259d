#include "runtime/sched/wait_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace clew::rt {
namespace {

class WaitTableTest : public testing::Test {
 protected:
  Wait& wait_for(const void* object, abi::WaitKind kind = abi::WaitKind::kMutex,
                 std::uint32_t bits = ~0u) {
    waits_.push_back(std::make_unique<Wait>());
    Wait& wait = *waits_.back();
    wait.object = object;
    wait.kind = kind;
    wait.bits = bits;
    table_.link(wait);
    return wait;
  }
  std::vector<Wait*> all_of(const void* object, std::uint32_t bits = ~0u) {
    std::vector<Wait*> found;
    for (Wait* w = table_.first(object, bits); w != nullptr; w = table_.next(*w, object, bits))
      found.push_back(w);
    return found;
  }

  std::vector<std::unique_ptr<Wait>> waits_;
  WaitTable table_;
  int a_ = 0;
  int b_ = 0;
};

TEST_F(WaitTableTest, ThoseOfAnObjectStandInTheOrderOfWaiting) {
  Wait& first = wait_for(&a_);
  wait_for(&b_);
  Wait& second = wait_for(&a_);
  EXPECT_EQ(all_of(&a_), (std::vector<Wait*>{&first, &second}));
  table_.unlink(first);
  EXPECT_EQ(all_of(&a_), std::vector<Wait*>{&second});
}

TEST_F(WaitTableTest, NobodyWaitsForAnythingAtFirst) {
  EXPECT_FALSE(table_.may_have(&a_));
  EXPECT_EQ(table_.first(&a_), nullptr);
  EXPECT_FALSE(table_.requeue_one(&a_, &b_));
}

TEST_F(WaitTableTest, ObjectsOfOneBucketAreToldApart) {
  // 5,000 objects in 1,024 buckets.
  std::vector<int> objects(5000);
  for (const int& object : objects) wait_for(&object);
  for (std::size_t i = 0; i < objects.size(); ++i)
    ASSERT_EQ(all_of(&objects[i]), std::vector<Wait*>{waits_[i].get()});
  for (std::size_t i = 0; i < objects.size(); i += 2) table_.unlink(*waits_[i]);
  for (std::size_t i = 0; i < objects.size(); ++i)
    ASSERT_EQ(all_of(&objects[i]).size(), i % 2) << i;
}

TEST_F(WaitTableTest, BitsChooseAmongWaiters) {
  wait_for(&a_, abi::WaitKind::kFutex, 1);
  Wait& second = wait_for(&a_, abi::WaitKind::kFutex, 2);
  Wait& third = wait_for(&a_, abi::WaitKind::kFutex, 3);
  EXPECT_EQ(all_of(&a_, 2), (std::vector<Wait*>{&second, &third}));
  EXPECT_TRUE(all_of(&a_, 4).empty());
}

TEST_F(WaitTableTest, KnowsTheKindsOfWaits) {
  wait_for(&a_, abi::WaitKind::kReadLock);
  EXPECT_TRUE(table_.has(&a_, abi::WaitKind::kReadLock));
  EXPECT_FALSE(table_.has(&a_, abi::WaitKind::kWriteLock));
  EXPECT_FALSE(table_.has(&b_, abi::WaitKind::kReadLock));
}

TEST_F(WaitTableTest, RequeuesTheLongestWaitingBehindTheOthers) {
  Wait& first = wait_for(&a_);
  Wait& second = wait_for(&a_);
  Wait& there = wait_for(&b_);
  EXPECT_TRUE(table_.requeue_one(&a_, &b_));
  EXPECT_EQ(all_of(&a_), std::vector<Wait*>{&second});
  EXPECT_EQ(all_of(&b_), (std::vector<Wait*>{&there, &first}));
}

TEST_F(WaitTableTest, AWaitWithoutAnObjectIsInNoBucket) {
  Wait wait;
  table_.unlink(wait);
  EXPECT_EQ(table_.first(nullptr), nullptr);
}

}  // namespace
}  // namespace clew::rt
