#include "host/isolate/window.h"

#include <gtest/gtest.h>

#include "host/search/sampling.h"

namespace clew {
namespace {

struct Program {
  std::function<bool(std::uint64_t)> fails;
  std::size_t asked = 0;

  Result<std::optional<Window>> window(std::uint64_t known, std::uint64_t end,
                                       std::uint64_t inner = 64) {
    return find_window(known, end, inner, [this](const std::vector<std::uint64_t>& at) {
      std::vector<bool> answers;
      for (const std::uint64_t one : at) answers.push_back(fails(one));
      asked += at.size();
      return Result<std::vector<bool>>(answers);
    });
  }
};

TEST(Window, OfAnInterval) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t end = 1 + random.below(1'000'000);
    const std::uint64_t first = 1 + random.below(end);
    const std::uint64_t last = first + random.below(end - first + 1);
    const std::uint64_t known = first + random.below(last - first + 1);
    Program program{[&](std::uint64_t at) { return at >= first && at <= last; }};
    const auto window = program.window(known, end);
    ASSERT_TRUE(*window);
    EXPECT_EQ((*window)->first, first);
    EXPECT_EQ((*window)->last, last);
    EXPECT_LE(program.asked, 2 * (20 + 20) + 64);
  }
}

TEST(Window, OfOnePosition) {
  Program program{[](std::uint64_t at) { return at == 7; }};
  const auto window = program.window(7, 100);
  EXPECT_EQ((*window)->first, 7);
  EXPECT_EQ((*window)->last, 7);
  EXPECT_EQ((*window)->tested, 1);
}

TEST(Window, OfTheWholeRunEndsWithIt) {
  Program program{[](std::uint64_t) { return true; }};
  const auto window = program.window(50, 1000);
  EXPECT_EQ((*window)->first, 1);
  EXPECT_EQ((*window)->last, 1000);
}

// Small windows are tried throughout: nothing in them passes.
TEST(Window, HasNoHolesWhereAllWasTried) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t salt = random.next();
    const std::uint64_t known = 1 + random.below(60);
    const auto fails = [&](std::uint64_t at) { return at == known || mix(salt, at) % 8 != 0; };
    Program program{fails};
    const auto window = program.window(known, 60, 64);
    ASSERT_TRUE(*window);
    for (std::uint64_t at = (*window)->first; at <= (*window)->last; ++at) EXPECT_TRUE(fails(at));
    EXPECT_TRUE((*window)->first == 1 || !fails((*window)->first - 1));
    EXPECT_TRUE((*window)->last == 60 || !fails((*window)->last + 1));
    EXPECT_EQ((*window)->tested, (*window)->last - (*window)->first + 1);
  }
}

TEST(Window, StopsWhenTold) {
  const auto window = find_window(5, 100, 8, [](const std::vector<std::uint64_t>&) {
    return Result<std::vector<bool>>(std::vector<bool>{});
  });
  EXPECT_FALSE(*window);
}

}  // namespace
}  // namespace clew
