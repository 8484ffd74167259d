#include "runtime/detect/freed_memory.h"

#include <gtest/gtest.h>

namespace clew::rt {
namespace {

constexpr std::uintptr_t kBase = 0x20'0000'0000;

TEST(FreedMemory, UsedAfterItWasFreed) {
  FreedMemory memory;
  memory.allocated(kBase, 24, {1, 10, 100});
  EXPECT_EQ(memory.used(kBase + 8, 4), nullptr);
  EXPECT_EQ(memory.freed(kBase, 24, {2, 20, 200}), nullptr);
  const FreedMemory::Block* block = memory.used(kBase + 20, 4);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->allocated.place, 100u);
  EXPECT_EQ(block->freed.thread, 2u);
  EXPECT_EQ(memory.used(kBase + 24, 8), nullptr);
  EXPECT_NE(memory.used(kBase - 8, 16), nullptr);
}

TEST(FreedMemory, FreedTwice) {
  FreedMemory memory;
  memory.allocated(kBase + 4096, 64, {1, 10, 100});
  EXPECT_EQ(memory.freed(kBase + 4096, 64, {1, 20, 200}), nullptr);
  const FreedMemory::Block* block = memory.freed(kBase + 4096, 64, {2, 30, 300});
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->freed.event, 20u);
}

TEST(FreedMemory, AllocatedAgainItIsInUse) {
  FreedMemory memory;
  memory.allocated(kBase + 8192, 64, {1, 10, 100});
  memory.freed(kBase + 8192, 64, {1, 20, 200});
  memory.allocated(kBase + 8192, 32, {1, 30, 300});
  EXPECT_EQ(memory.used(kBase + 8192, 32), nullptr);
  EXPECT_NE(memory.used(kBase + 8192 + 32, 8), nullptr);  // the rest is still free
  EXPECT_EQ(memory.freed(kBase + 8192, 32, {1, 40, 400}), nullptr);
}

}  // namespace
}  // namespace clew::rt
