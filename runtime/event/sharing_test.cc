// What threads share, learned from events, and the hash of their order.
#include "runtime/event/sharing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace clew::rt {
namespace {

constexpr std::size_t kPoints = 256;

class SharingTest : public testing::Test {
 protected:
  SharingTest() : memory_(sizeof(abi::Control) + kPoints + 4096) {
    control().sharing = {sizeof(abi::Control), kPoints / 8};
    control().new_sharing = {sizeof(abi::Control) + kPoints, 1024};
    sharing_.begin(control(), abi::Job{});
  }
  ~SharingTest() override { sharing_.end(); }

  void event(std::uint32_t thread, std::uint64_t point, std::uintptr_t object, std::uint32_t size,
             abi::StepKind kind) {
    Event e;
    e.thread = {thread + 100, thread};
    e.step = {object, point << 1, size, kind};
    sharing_.before(e);
  }
  std::vector<std::uint32_t> found() {
    std::vector<std::uint32_t> points(sharing_.found());
    std::memcpy(points.data(), memory_.data() + control().new_sharing.offset, points.size() * 4);
    std::ranges::sort(points);
    return points;
  }
  abi::Control& control() { return *reinterpret_cast<abi::Control*>(memory_.data()); }

  std::vector<std::uint8_t> memory_;
  Sharing sharing_;
};

using enum abi::StepKind;
using Points = std::vector<std::uint32_t>;

TEST_F(SharingTest, ReadsAloneShareNothing) {
  event(1, 5, 0x1000, 8, kRead);
  event(2, 6, 0x1000, 8, kRead);
  EXPECT_EQ(found(), Points{});
}

TEST_F(SharingTest, AReleaseIsAWriteToAllOfTheObject) {
  event(1, 5, 0x1000 + 5000, 1, kRead);  // far behind the beginning
  event(2, 6, 0x1000, 6000, kFree);
  EXPECT_EQ(found(), (Points{5, 6}));
}

TEST_F(SharingTest, AReleaseEndsWhereTheObjectDoes) {
  event(1, 5, 0x1000 + 6000, 1, kRead);
  event(2, 6, 0x1000, 6000, kFree);
  EXPECT_EQ(found(), Points{});
}

TEST_F(SharingTest, AUseAfterARelease) {
  event(2, 6, 0x1000, 64, kFree);
  event(1, 5, 0x1000 + 40, 8, kRead);
  EXPECT_EQ(found(), (Points{5, 6}));
}

TEST_F(SharingTest, TwoReleasesOfOneObject) {
  event(1, 5, 0x1000, 64, kFree);
  event(2, 6, 0x1000, 64, kFree);
  EXPECT_EQ(found(), (Points{5, 6}));
}

TEST_F(SharingTest, ASharedMutexIsDestroyed) {
  event(1, 5, 0x1000, 1, kLock);
  event(2, 6, 0x1000, 40, kDestroy);
  EXPECT_EQ(found(), (Points{5, 6}));
}

TEST_F(SharingTest, TheOrderOfUseAndReleaseIsPartOfTheInterleaving) {
  event(1, 5, 0x1000 + 40, 1, kRead);
  event(2, 6, 0x1000, 64, kFree);
  const std::uint64_t used_first = sharing_.interleaving();
  sharing_.end();
  control().new_sharing_count = 0;
  sharing_.begin(control(), abi::Job{});
  event(2, 6, 0x1000, 64, kFree);
  event(1, 5, 0x1000 + 40, 1, kRead);
  const std::uint64_t freed_first = sharing_.interleaving();
  EXPECT_NE(used_first, freed_first);
}

// Releases of what only one thread uses come in any order.
TEST_F(SharingTest, ReleasesOfOthersDoNotMatter) {
  event(1, 5, 0x1000, 64, kFree);
  event(2, 6, 0x2000, 64, kFree);
  const std::uint64_t one = sharing_.interleaving();
  sharing_.end();
  control().new_sharing_count = 0;
  sharing_.begin(control(), abi::Job{});
  event(2, 6, 0x2000, 64, kFree);
  event(1, 5, 0x1000, 64, kFree);
  EXPECT_EQ(sharing_.interleaving(), one);
}

}  // namespace
}  // namespace clew::rt
