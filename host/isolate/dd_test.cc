#include "host/isolate/dd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "host/search/sampling.h"

namespace clew {
namespace {

using TestFunction = std::function<Verdict(const Counts&)>;

// Answers by a function of the counts, and checks how it is asked.
class FunctionOracle : public DdOracle {
 public:
  explicit FunctionOracle(TestFunction outcome) : outcome_(std::move(outcome)) {}

  Verdict test(const Counts& applied) override {
    EXPECT_EQ(applied, expected_);
    const Verdict outcome = outcome_(applied);
    EXPECT_TRUE(asked.emplace(applied, outcome).second) << "asked twice";
    last_ = outcome;
    return outcome;
  }

  void expect(const Counts& tested, std::span<const Counts> if_pass,
              std::span<const Counts> if_fail) override {
    expected_ = tested;
    if (asked.size() > 0 && last_ != Verdict::kUnresolved) {
      const std::vector<Counts>& foreseen = last_ == Verdict::kPass ? if_pass_ : if_fail_;
      if (!foreseen.empty()) {
        EXPECT_EQ(foreseen[0], tested);
        ++foreseen_;
      }
    }
    if_pass_.assign(if_pass.begin(), if_pass.end());
    if_fail_.assign(if_fail.begin(), if_fail.end());
    EXPECT_LE(if_pass_.size(), 3u);
    EXPECT_LE(if_fail_.size(), 3u);
  }

  [[nodiscard]] Verdict outcome(const Counts& counts) const { return outcome_(counts); }
  [[nodiscard]] std::size_t foreseen() const { return foreseen_; }

  std::map<Counts, Verdict> asked;

 private:
  TestFunction outcome_;
  Verdict last_{};
  Counts expected_;
  std::vector<Counts> if_pass_, if_fail_;
  std::size_t foreseen_ = 0;
};

// Definition 16.
bool is_minimal(const FunctionOracle& oracle, const DdResult& result) {
  for (std::size_t group = 0; group < result.passing.size(); ++group) {
    if (result.passing[group] == result.failing[group]) continue;
    Counts more = result.passing, less = result.failing;
    ++more[group];
    --less[group];
    if (oracle.outcome(more) == Verdict::kPass || oracle.outcome(less) == Verdict::kFail)
      return false;
  }
  return true;
}

// Runs dd from nothing to all of `sizes`, and checks what holds of any outcome function.
DdResult run(FunctionOracle& oracle, const Counts& sizes,
             std::uint64_t most_tests = std::numeric_limits<std::uint64_t>::max()) {
  const Counts none(sizes.size(), 0);
  const DdResult result = dd(oracle, none, sizes, most_tests);
  EXPECT_EQ(result.tests, oracle.asked.size());
  EXPECT_LE(result.tests, most_tests);
  EXPECT_TRUE(result.passing == none || oracle.asked.at(result.passing) == Verdict::kPass);
  EXPECT_TRUE(result.failing == sizes || oracle.asked.at(result.failing) == Verdict::kFail);
  EXPECT_NE(result.passing, result.failing);
  for (std::size_t group = 0; group < sizes.size(); ++group)
    EXPECT_LE(result.passing[group], result.failing[group]);
  if (result.minimal)
    EXPECT_TRUE(is_minimal(oracle, result));
  else
    EXPECT_EQ(result.tests, most_tests);
  return result;
}

// Fails if and only if every one of these groups has at least so many changes applied.
TestFunction conjunction(std::map<std::size_t, std::uint64_t> thresholds) {
  return [thresholds = std::move(thresholds)](const Counts& counts) {
    const bool fails = std::ranges::all_of(
        thresholds, [&](const auto& item) { return counts[item.first] >= item.second; });
    return fails ? Verdict::kFail : Verdict::kPass;
  };
}

// The same, but what has reached some of the thresholds is neither the one nor the other.
TestFunction strict_conjunction(std::map<std::size_t, std::uint64_t> thresholds) {
  return [thresholds = std::move(thresholds)](const Counts& counts) {
    const auto reached = static_cast<std::size_t>(std::ranges::count_if(
        thresholds, [&](const auto& item) { return counts[item.first] >= item.second; }));
    if (reached == 0) return Verdict::kPass;
    return reached == thresholds.size() ? Verdict::kFail : Verdict::kUnresolved;
  };
}

// A function without any structure: out of a hundred so many pass, and so many fail.
TestFunction noise(std::uint64_t seed, const Counts& sizes, unsigned pass, unsigned fail) {
  return [=](const Counts& counts) {
    if (std::ranges::all_of(counts, [](std::uint64_t count) { return count == 0; }))
      return Verdict::kPass;
    if (counts == sizes) return Verdict::kFail;
    std::uint64_t hash = seed;
    for (const std::uint64_t count : counts) hash = mix(hash, count);
    const std::uint64_t percent = hash % 100;
    if (percent < pass) return Verdict::kPass;
    return percent < pass + fail ? Verdict::kFail : Verdict::kUnresolved;
  };
}

Counts random_sizes(Random& random, std::size_t most_groups, std::uint64_t most) {
  Counts sizes(1 + random.below(most_groups));
  for (std::uint64_t& size : sizes) size = 1 + random.below(most);
  return sizes;
}

// Figure 6: the switches of <6, 12, 17, 17, 17> move down to <5, 7, 8, 10, 15>.
class IntQueue : public DdOracle {
 public:
  Verdict test(const Counts& applied) override {
    runs.push_back(clocks(applied));
    const auto found = kTable.find(runs.back());
    EXPECT_NE(found, kTable.end());
    return found == kTable.end() ? Verdict::kUnresolved : found->second;
  }
  std::optional<Verdict> known(const Counts& applied) override {
    if (!std::ranges::is_sorted(clocks(applied))) return Verdict::kUnresolved;
    return std::nullopt;
  }

  std::vector<Counts> runs;

 private:
  static Counts clocks(const Counts& applied) {
    Counts clocks{6, 12, 17, 17, 17};
    for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] -= applied[i];
    return clocks;
  }
  inline static const std::map<Counts, Verdict> kTable{
      {{5, 7, 8, 17, 17}, Verdict::kPass}, {{5, 7, 8, 10, 17}, Verdict::kFail},
      {{5, 7, 8, 13, 17}, Verdict::kPass}, {{5, 7, 8, 11, 17}, Verdict::kPass},
      {{5, 7, 8, 12, 17}, Verdict::kPass}, {{6, 12, 17, 17, 17}, Verdict::kPass},
      {{5, 7, 8, 10, 15}, Verdict::kFail}, {{6, 7, 8, 10, 15}, Verdict::kFail}};
};

TEST(Dd, Figure6) {
  IntQueue queue;
  const Counts all{1, 5, 9, 7, 2};
  const DdResult result = dd(queue, Counts(5, 0), all, 100);
  const std::vector<Counts> runs{
      {5, 7, 8, 17, 17}, {5, 7, 8, 10, 17}, {5, 7, 8, 13, 17}, {5, 7, 8, 11, 17}};
  EXPECT_EQ(queue.runs, runs);
  EXPECT_EQ(result.tests, 4u);
  EXPECT_TRUE(result.minimal);
  EXPECT_EQ(result.passing, (Counts{1, 5, 9, 6, 0}));
  EXPECT_EQ(result.failing, (Counts{1, 5, 9, 7, 0}));
}

TEST(Dd, OneChangeNeedsNoTest) {
  FunctionOracle oracle(conjunction({{1, 1}}));
  const DdResult result = run(oracle, {0, 1, 0});
  EXPECT_EQ(result.tests, 0u);
  EXPECT_TRUE(result.minimal);
}

TEST(Dd, OneGroupIsABinarySearch) {
  Random random(1);
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t size : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000},
                                   std::uint64_t{1'000'000'000'000}, kLargest}) {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t threshold = i == 0 ? 1 : i == 1 ? size : 1 + random.below(size);
      FunctionOracle oracle(conjunction({{0, threshold}}));
      const DdResult result = run(oracle, {size});
      EXPECT_TRUE(result.minimal);
      EXPECT_EQ(result.failing, Counts{threshold});
      EXPECT_EQ(result.passing, Counts{threshold - 1});
      EXPECT_LE(static_cast<double>(result.tests), std::log2(static_cast<double>(size)) + 1);
      EXPECT_EQ(oracle.foreseen() + 1, oracle.asked.size());
    }
  }
}

TEST(Dd, OneCauseAmongThousandsOfGroups) {
  Random random(2);
  for (int i = 0; i < 8; ++i) {
    Counts sizes(3770);
    for (std::uint64_t& size : sizes) size = 900'000 + random.below(200'000);
    const std::size_t group = random.below(sizes.size());
    const std::uint64_t threshold = 1 + random.below(sizes[group]);
    FunctionOracle oracle(conjunction({{group, threshold}}));
    const DdResult result = run(oracle, sizes);
    EXPECT_TRUE(result.minimal);
    EXPECT_LE(result.tests, 34u);
    EXPECT_EQ(result.failing[group], threshold);
    EXPECT_EQ(result.passing[group], threshold - 1);
  }
}

TEST(Dd, OneCauseWithinTwiceTheLogarithm) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Counts sizes = random_sizes(random, 1 + random.below(60), 1 + random.below(1'000'000));
    double total = 0;
    for (const std::uint64_t size : sizes) total += static_cast<double>(size);
    const std::size_t group = random.below(sizes.size());
    FunctionOracle oracle(conjunction({{group, 1 + random.below(sizes[group])}}));
    const DdResult result = run(oracle, sizes);
    EXPECT_TRUE(result.minimal);
    EXPECT_LE(static_cast<double>(result.tests), 2 * std::log2(total) + 4);
  }
}

// The last change that is missing is one change, whatever else must be there.
TEST(Dd, ConjunctionLeavesOneChange) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    Counts sizes(20);
    for (std::uint64_t& size : sizes) size = 1 + random.below(1'000'000);
    std::map<std::size_t, std::uint64_t> thresholds;
    while (thresholds.size() < 2u + i % 2) {
      const std::size_t group = random.below(sizes.size());
      thresholds[group] = 1 + random.below(sizes[group]);
    }
    FunctionOracle oracle(conjunction(thresholds));
    const DdResult result = run(oracle, sizes);
    EXPECT_TRUE(result.minimal);
    EXPECT_LE(result.tests, 30u);
    std::uint64_t left = 0;
    for (std::size_t group = 0; group < sizes.size(); ++group)
      left += result.failing[group] - result.passing[group];
    EXPECT_EQ(left, 1u);
  }
}

TEST(Dd, StrictConjunctionIsFoundExactly) {
  Random random(5);
  std::uint64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    Counts sizes(20);
    for (std::uint64_t& size : sizes) size = 1 + random.below(1'000'000);
    std::map<std::size_t, std::uint64_t> thresholds;
    while (thresholds.size() < 2u + i % 2) {
      const std::size_t group = random.below(sizes.size());
      thresholds[group] = 1 + random.below(sizes[group]);
    }
    FunctionOracle oracle(strict_conjunction(thresholds));
    const DdResult result = run(oracle, sizes);
    EXPECT_TRUE(result.minimal);
    for (std::size_t group = 0; group < sizes.size(); ++group) {
      const auto found = thresholds.find(group);
      if (found == thresholds.end()) {
        EXPECT_EQ(result.failing[group], result.passing[group]);
        continue;
      }
      EXPECT_EQ(result.failing[group], found->second);
      EXPECT_EQ(result.passing[group], found->second - 1);
    }
    most = std::max(most, result.tests);
  }
  EXPECT_LE(most, 250u);
}

// Two groups that pass only if they are changed together: no step of one group alone gets far.
TEST(Dd, ChangesThatOnlyMakeSenseTogether) {
  constexpr std::uint64_t kSize = 1'000'000'000'000, kThreshold = 123'456'789'012;
  FunctionOracle oracle([](const Counts& counts) {
    if (std::max(counts[0], counts[1]) - std::min(counts[0], counts[1]) > 8)
      return Verdict::kUnresolved;
    return counts[0] >= kThreshold ? Verdict::kFail : Verdict::kPass;
  });
  const DdResult result = run(oracle, {kSize, kSize});
  EXPECT_TRUE(result.minimal);
  EXPECT_EQ(result.passing[0], kThreshold - 1);
  EXPECT_EQ(result.failing[0], kThreshold);
  EXPECT_LE(result.tests, 60u);
}

// Nothing between the two sides is resolved.
TEST(Dd, AllUnresolvedCostsTheLogarithmForEachGroup) {
  const Counts sizes(10, 1'000'000);
  FunctionOracle oracle(noise(1, sizes, 0, 0));
  const DdResult result = run(oracle, sizes);
  EXPECT_TRUE(result.minimal);
  EXPECT_EQ(result.failing, sizes);
  EXPECT_LE(result.tests, 2u * 11 * 21 + 2u * 18);
}

// Passes up to here, fails from there on, nothing is known of what lies between.
TEST(Dd, GapInOneGroup) {
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t size = 1'000'000'000'000;
    const std::uint64_t passes = random.below(size >> random.below(40));
    const std::uint64_t fails = passes + 1 + random.below(size - passes);
    FunctionOracle oracle([=](const Counts& counts) {
      if (counts[0] <= passes) return Verdict::kPass;
      return counts[0] >= fails ? Verdict::kFail : Verdict::kUnresolved;
    });
    const DdResult result = run(oracle, {size});
    EXPECT_TRUE(result.minimal);
    EXPECT_EQ(result.passing, Counts{passes});
    EXPECT_EQ(result.failing, Counts{fails});
    EXPECT_LE(result.tests, 140u);
  }
}

TEST(Dd, NoiseAlwaysEndsMinimal) {
  Random random(7);
  constexpr std::pair<unsigned, unsigned> kProportions[] = {
      {50, 50}, {45, 45}, {10, 80}, {80, 10}, {30, 30}, {5, 5}, {2, 0}, {0, 2}, {1, 1}};
  for (const auto& [pass, fail] : kProportions) {
    for (const std::uint64_t most : {3ull, 100ull, 1'000'000ull, 1'000'000'000'000'000ull}) {
      for (int i = 0; i < 12; ++i) {
        const Counts sizes = random_sizes(random, 12, most);
        FunctionOracle oracle(noise(random.next(), sizes, pass, fail));
        EXPECT_TRUE(run(oracle, sizes).minimal);
      }
    }
  }
}

TEST(Dd, EndsAtTheLimit) {
  Random random(8);
  for (std::uint64_t most_tests = 0; most_tests < 100; ++most_tests) {
    const Counts sizes = random_sizes(random, 12, 1'000'000);
    FunctionOracle oracle(noise(random.next(), sizes, 3, 3));
    (void)run(oracle, sizes, most_tests);
  }
}

TEST(Dd, EndsWhenTold) {
  class Impatient : public FunctionOracle {
   public:
    using FunctionOracle::FunctionOracle;
    bool go_on() override { return asked.size() < 7; }
  };
  Impatient oracle(conjunction({{0, 4711}}));
  const DdResult result = dd(oracle, {0}, {1'000'000}, 100);
  EXPECT_EQ(result.tests, 7u);
  EXPECT_FALSE(result.minimal);
  EXPECT_LT(result.passing[0], 4711u);
  EXPECT_GE(result.failing[0], 4711u);
}

// The last test that would show the result to be minimal is given up.
TEST(Dd, AnEndDuringATestShowsNothing) {
  class Interrupted : public FunctionOracle {
   public:
    using FunctionOracle::FunctionOracle;
    bool go_on() override { return asked.empty(); }
  };
  const Counts sizes{2};
  Interrupted oracle(noise(1, sizes, 0, 0));
  const DdResult result = dd(oracle, {0}, sizes, 100);
  EXPECT_EQ(result.tests, 1u);
  EXPECT_FALSE(result.minimal);
}

// What is known without a run narrows, but is no test.
TEST(Dd, KnownOutcomesAreNoTests) {
  class Knowing : public FunctionOracle {
   public:
    using FunctionOracle::FunctionOracle;
    std::optional<Verdict> known(const Counts& applied) override { return outcome(applied); }
  };
  Knowing oracle(conjunction({{1, 300}}));
  const DdResult result = dd(oracle, {0, 0, 0}, {1000, 1000, 1000}, 0);
  EXPECT_EQ(result.tests, 0u);
  EXPECT_TRUE(result.minimal);
  EXPECT_EQ(result.failing[1], 300u);
}

TEST(Dd, StartsFromAnySides) {
  FunctionOracle oracle(conjunction({{1, 300}}));
  const DdResult result = dd(oracle, {5, 100, 7}, {5, 1000, 9}, 100);
  EXPECT_EQ(result.failing, (Counts{5, 300, result.failing[2]}));
  EXPECT_EQ(result.passing, (Counts{5, 299, result.failing[2]}));
}

}  // namespace
}  // namespace clew
