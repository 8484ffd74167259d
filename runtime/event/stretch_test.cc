// Compared with a reference that keeps every byte.
#include "runtime/event/stretch.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace clew::rt {
namespace {

using Access = Stretch::Access;
constexpr std::uintptr_t kBase = 0x10'0000'0000;

struct Kept : Stretch {
  Kept() { keep(); }
};

TEST(Stretch, AWriteCoversAReadAndNotTheOtherWayRound) {
  Kept stretch;
  EXPECT_FALSE(stretch.repeats(kBase, 8, Access::kRead));
  EXPECT_TRUE(stretch.repeats(kBase + 2, 4, Access::kRead));
  EXPECT_FALSE(stretch.repeats(kBase + 2, 4, Access::kWrite));
  EXPECT_TRUE(stretch.repeats(kBase + 3, 2, Access::kWrite));
  EXPECT_FALSE(stretch.repeats(kBase + 5, 2, Access::kWrite));
}

TEST(Stretch, NothingIsKnownInTheNextOne) {
  Kept stretch;
  stretch.repeats(kBase, 8, Access::kWrite);
  stretch.begin();
  EXPECT_FALSE(stretch.repeats(kBase, 1, Access::kRead));
}

TEST(Stretch, MemoryThatIsSomethingElseIsForgotten) {
  Kept stretch;
  for (const std::uint64_t size : {1u, 8u, 100u, 100'000u}) {
    stretch.repeats(kBase, 16, Access::kWrite);
    stretch.forget(kBase + 4, size);
    EXPECT_FALSE(stretch.repeats(kBase, 8, Access::kRead)) << size;
  }
}

TEST(Stretch, WhatFollowsTheLastSlotHasOneOfItsOwn) {
  Kept stretch;
  const std::uintptr_t last = kBase + ((std::uintptr_t{8} << CLEW_STRETCH_SLOT_BITS) - 8);
  EXPECT_FALSE(stretch.repeats(last, 16, Access::kRead));
  EXPECT_TRUE(stretch.repeats(last, 16, Access::kRead));
}

// Never a repetition that is none. Of those that are, the table forgets some: here, where all granules
// fit, only what it is told to, by whole granules.
TEST(Stretch, AgreesWithEachByteForItself) {
  Kept stretch;
  std::map<std::uintptr_t, Access> heard;  // by byte
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::uint64_t repetitions = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (below(50) == 0) {
      stretch.begin();
      heard.clear();
    }
    const std::uintptr_t address = kBase + below(64);
    const std::uint64_t size = 1 + below(16);
    if (below(30) == 0) {
      stretch.forget(address, size);
      for (std::uintptr_t byte = address & ~7ul; byte < (address + size + 7 & ~7ul); ++byte)
        heard.erase(byte);
      continue;
    }
    const Access access = below(3) == 0 ? Access::kWrite : Access::kRead;
    bool expected = true;
    for (std::uintptr_t byte = address; byte < address + size; ++byte) {
      const auto found = heard.find(byte);
      expected &= found != heard.end() && found->second >= access;
      if (found == heard.end() || access == Access::kWrite) heard[byte] = access;
    }
    ASSERT_EQ(stretch.repeats(address, size, access), expected) << i;
    repetitions += expected ? 1 : 0;
  }
  EXPECT_GT(repetitions, 10'000u);
}

}  // namespace
}  // namespace clew::rt
