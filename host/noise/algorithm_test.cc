#include "host/noise/algorithm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "host/noise/laboratory_test_util.h"

namespace clew {
namespace {

using Points = std::vector<std::uint32_t>;

Points sorted(Points points) {
  std::ranges::sort(points);
  return points;
}

// Two points are needed, and each other one hides the bug a little: not monotonic.
std::vector<double> needs_two(const Subset& points) {
  if (!points.has(17) || !points.has(40)) return {0.0};
  return {0.9 * std::pow(0.97, static_cast<double>(points.size() - 2))};
}

SearchOptions with(std::size_t samples, std::uint32_t runs) {
  SearchOptions options;
  options.samples = samples;
  options.runs = runs;
  return options;
}

TEST(Features, FindTwoPointsThatAreNeededTogether) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SimulatedLaboratory lab(80, seed, needs_two);
    const SearchResult found = search_features(lab, with(500, 20));
    ASSERT_FALSE(found.causes.empty());
    EXPECT_EQ(sorted(found.causes[0].points), (Points{17, 40})) << seed;
    EXPECT_GT(found.causes[0].rate.value(), 0.8);
  }
}

TEST(Active, FindsThemWithATenthOfTheRuns) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedLaboratory lab(80, seed, needs_two);
    const SearchResult found = search_active(lab, with(1, 0));
    ASSERT_FALSE(found.causes.empty()) << seed;
    EXPECT_EQ(sorted(found.causes[0].points), (Points{17, 40})) << seed;
    EXPECT_GE(found.causes[0].confidence.value_or(0), 0.99);
    EXPECT_LT(lab.runs, 10'000u);
  }
}

TEST(Active, FindsARareBugAmongManyPoints) {
  int found_count = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimulatedLaboratory lab(300, seed, [](const Subset& points) {
      if (!points.has(5) || !points.has(250)) return std::vector<double>{0.0};
      return std::vector<double>{std::max(0.03, 0.1 - 0.0005 * static_cast<double>(points.size()))};
    });
    const SearchResult found = search_active(lab, with(1, 0));
    found_count += !found.causes.empty() && sorted(found.causes[0].points) == Points{5, 250};
  }
  EXPECT_GE(found_count, 9);
}

TEST(Active, FindsOnePointThatIsEnough) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimulatedLaboratory lab(40, seed, [](const Subset& points) {
      return std::vector<double>{points.has(3) ? 0.6 : 0.05};
    });
    const SearchResult found = search_active(lab, with(1, 0));
    ASSERT_FALSE(found.causes.empty());
    EXPECT_EQ(found.causes[0].points, Points{3}) << seed;
  }
}

TEST(Active, SaysNothingIfNothingFails) {
  SimulatedLaboratory lab(40, 1, [](const Subset&) { return std::vector<double>{0.0}; });
  EXPECT_TRUE(search_active(lab, {}).causes.empty());
}

// What fails as often whatever the noise has no cause among the points.
TEST(Active, SaysNothingIfNoiseDoesNotMatter) {
  int causes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedLaboratory lab(40, seed, [](const Subset&) { return std::vector<double>{0.3}; });
    for (const NoiseCause& cause : search_active(lab, {}).causes)
      causes += cause.confidence >= 0.99;
  }
  EXPECT_LE(causes, 1);
}

TEST(Active, TellsTwoFailuresApart) {
  SimulatedLaboratory lab(60, 3, [](const Subset& points) {
    return std::vector<double>{points.has(7) && points.has(8) ? 0.4 : 0.0,
                               points.has(30) && !points.has(31) ? 0.5 : 0.0};
  });
  const SearchResult found = search_active(lab, {});
  ASSERT_GE(found.causes.size(), 2u);
  for (const NoiseCause& cause : found.causes) {
    EXPECT_FALSE(cause.beside_first);
    EXPECT_EQ(sorted(cause.points), cause.failure == 0u ? (Points{7, 8}) : Points{30});
  }
}

TEST(Algorithms, FindASecondCauseOfWhatLooksTheSame) {
  const auto chances = [](const Subset& points) {
    return std::vector<double>{points.has(7) && points.has(8) ? 0.5 : points.has(30) ? 0.3 : 0.0};
  };
  SearchOptions options = with(600, 20);
  options.one_kind = true;
  SimulatedLaboratory by_features(60, 3, chances);
  const SearchResult found = search_features(by_features, options);
  ASSERT_EQ(found.causes.size(), 2u);
  EXPECT_TRUE(found.causes[1].beside_first);
}

TEST(Delta, SucceedsOnMonotonicPrograms) {
  for (const Delta kind : {Delta::kDd, Delta::kDdmin}) {
    SimulatedLaboratory lab(64, 1, [](const Subset& points) {
      return std::vector<double>{points.has(20) ? 1.0 : 0.0};
    });
    const SearchResult found = search_delta(lab, {}, kind);
    ASSERT_EQ(found.causes.size(), 1u);
    EXPECT_EQ(found.causes[0].points, Points{20});
  }
}

TEST(Delta, FailsWhereOtherPointsHideTheBugUnlessThereAreMore) {
  // With an odd number of the first 32 points it does not show.
  SimulatedLaboratory lab(64, 1, [](const Subset& points) {
    std::size_t hiding = 0;
    for (std::size_t i = 0; i < 32; ++i) hiding += points.has(i);
    return std::vector<double>{
        points.has(40) && points.has(60) && hiding % 2 == 0 && hiding > 8 ? 1.0 : 0.0};
  });
  const SearchResult found = search_delta(lab, {}, Delta::kDdmin);
  EXPECT_TRUE(found.causes.empty() || found.causes[0].points.size() > 2);
}

TEST(Algorithms, EndWhenToldTo) {
  for (const std::uint64_t most : {0u, 100u, 2000u, 4000u}) {
    SimulatedLaboratory lab(80, 1, needs_two);
    lab.most_runs = most;
    (void)search_active(lab, {});
    (void)search_features(lab, with(100, 20));
    (void)search_delta(lab, {}, Delta::kDd);
  }
}

}  // namespace
}  // namespace clew
