#include "host/isolate/window.h"

#include <gtest/gtest.h>

#include <set>

#include "host/search/sampling.h"

namespace clew {
namespace {

struct Program {
  std::function<Moved(std::uint64_t)> at;
  std::size_t asked = 0;

  Window window(std::uint64_t known, std::uint64_t end, std::uint64_t most = 64) {
    const auto found =
        find_window(known, end, most, [this](const std::vector<std::uint64_t>& positions) {
          std::vector<Moved> answers;
          for (const std::uint64_t one : positions) answers.push_back(at(one));
          asked += positions.size();
          return Result<std::vector<Moved>>(answers);
        });
    EXPECT_TRUE(found && *found);
    return **found;
  }
};

Moved failing(bool fails) { return fails ? Moved::kFails : Moved::kDoesNot; }

TEST(Window, OfAnInterval) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t end = 1 + random.below(1'000'000);
    const std::uint64_t first = 1 + random.below(end);
    const std::uint64_t last = first + random.below(end - first + 1);
    const std::uint64_t known = first + random.below(last - first + 1);
    Program program{[&](std::uint64_t at) { return failing(at >= first && at <= last); }};
    const Window window = program.window(known, end);
    EXPECT_EQ(window.first, first);
    EXPECT_EQ(window.last, last);
    EXPECT_EQ(window.others_failing, 0);
    EXPECT_LE(program.asked, 64 + 1 + 2 * 20);
  }
}

TEST(Window, OfOnePosition) {
  Program program{[](std::uint64_t at) { return failing(at == 7); }};
  const Window window = program.window(7, 60);
  EXPECT_EQ(window.first, 7);
  EXPECT_EQ(window.last, 7);
  EXPECT_EQ(window.places, 1);
  EXPECT_EQ(window.others, 59);
  EXPECT_TRUE(window.gapless && window.ends_before && window.ends_after && window.whole_course);
}

TEST(Window, OfTheWholeCourseEndsWithIt) {
  Program program{[](std::uint64_t) { return Moved::kFails; }};
  const Window window = program.window(50, 1000);
  EXPECT_EQ(window.first, 1);
  EXPECT_EQ(window.last, 1000);
  EXPECT_FALSE(window.gapless || window.ends_before || window.ends_after || window.whole_course);
}

// One step away it does not fail, two steps away it does.
TEST(Window, LooksBeyondTheFirstMiss) {
  Program program{[](std::uint64_t at) { return failing(at % 2 == 1); }};
  const Window window = program.window(7, 20);
  EXPECT_EQ(window.first, 7);
  EXPECT_EQ(window.last, 7);
  EXPECT_TRUE(window.ends_before && window.ends_after);
  EXPECT_EQ(window.others_failing, 9);
  EXPECT_EQ(window.others_first, 1);
  EXPECT_EQ(window.others_last, 19);
}

// Positions at which the preemption takes no effect are no places.
TEST(Window, CountsOnlyWhatTakesEffect) {
  Program program{[](std::uint64_t at) {
    return at < 4 || at > 8 || at == 6 ? Moved::kNoPlace : Moved::kFails;
  }};
  const Window window = program.window(5, 40);
  EXPECT_EQ(window.first, 4);
  EXPECT_EQ(window.last, 8);
  EXPECT_EQ(window.places, 4);
  EXPECT_EQ(window.others, 0);
  EXPECT_TRUE(window.gapless);
  EXPECT_FALSE(window.ends_before || window.ends_after);
}

TEST(Window, SaysOnlyWhatWasTried) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t salt = random.next();
    const std::uint64_t end = 1 + random.below(300);
    const std::uint64_t known = 1 + random.below(end);
    std::set<std::uint64_t> tried{known};
    const auto at = [&](std::uint64_t position) {
      tried.insert(position);
      if (position == known) return Moved::kFails;
      return static_cast<Moved>(mix(salt, position) % 3);
    };
    Program program{at};
    const Window window = program.window(known, end, 64);
    const std::set<std::uint64_t> asked = tried;
    std::uint64_t places = 0, others = 0, others_failing = 0, inside = 0;
    for (const std::uint64_t one : asked) {
      const bool in = one >= window.first && one <= window.last;
      if (in) {
        EXPECT_NE(at(one), Moved::kDoesNot);
        ++inside;
      }
      places += in && at(one) == Moved::kFails;
      others += !in && at(one) != Moved::kNoPlace;
      others_failing += !in && at(one) == Moved::kFails;
    }
    EXPECT_EQ(window.places, places);
    EXPECT_EQ(window.others, others);
    EXPECT_EQ(window.others_failing, others_failing);
    EXPECT_EQ(window.gapless, inside == window.last - window.first + 1);
    EXPECT_EQ(window.whole_course, asked.size() == end);
    EXPECT_EQ(window.ends_before,
              asked.contains(window.first - 1) && at(window.first - 1) == Moved::kDoesNot);
  }
}

TEST(Window, StopsWhenTold) {
  const auto window = find_window(5, 100, 8, [](const std::vector<std::uint64_t>&) {
    return Result<std::vector<Moved>>(std::vector<Moved>{});
  });
  EXPECT_FALSE(*window);
}

}  // namespace
}  // namespace clew
