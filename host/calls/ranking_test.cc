#include "host/calls/ranking.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <unordered_map>

#include "host/calls/whole_counts.h"

namespace clew {
namespace {

// Features are numbered 100 * caller + callee.
std::optional<std::uint32_t> caller(std::uint64_t feature) {
  return static_cast<std::uint32_t>(feature / 100);
}

// Function 2 calls 5 less often in failing runs; 1 calls at random, 3 always as often.
FeatureTable table(std::size_t runs, double noise) {
  FeatureTable result;
  std::mt19937 random(7);
  for (std::size_t i = 0; i < runs; ++i) {
    const bool fails = i % 4 == 0;
    const bool flips = static_cast<double>(random() % 1000) < noise * 1000;
    result.add(fails ? RunClass::kFailing : RunClass::kPassing,
               {{101, random() % 9}, {205, fails != flips ? 3 : 4}, {301, 12}});
  }
  return result;
}

TEST(FeatureTable, GivesBackWhatWasAdded) {
  FeatureTable t;
  std::mt19937 random(3);
  std::vector<std::vector<std::uint64_t>> rows;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> row(6);
    for (std::size_t f = 0; f < row.size(); ++f) row[f] = i < 40 ? 0 : random() % (f + 1);
    RunCounts counts;
    for (std::size_t f = 0; f < row.size(); ++f)
      if (row[f] != 0) counts.emplace_back(f, row[f]);
    t.add(i % 3 == 0 ? RunClass::kFailing : RunClass::kPassing, counts);
    rows.push_back(row);
  }
  for (std::size_t c = 0; c < t.features().size(); ++c) {
    const auto values = t.column(c).values(t.runs());
    double sum = 0;
    for (const ValueCounts& value : t.histogram(c, {1, 1})) sum += value.runs.all();
    EXPECT_DOUBLE_EQ(sum, 200);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(values[i], rows[i][t.features()[c]]);
  }
}

TEST(Ranking, PutsTheFunctionFirstWhoseCallsDiffer) {
  const FeatureTable t = table(200, 0);
  for (const ScoreKind kind : {ScoreKind::kDiscretised, ScoreKind::kBestSplit}) {
    const auto ranking = rank_functions(t, {9, 9, 9, 20}, caller,
                                        {.score = kind, .weight = ClassWeight::kAsCounted});
    ASSERT_EQ(ranking.size(), 4u);
    EXPECT_EQ(ranking[0].function, 2u);
    EXPECT_DOUBLE_EQ(ranking[0].score, 1);
    ASSERT_TRUE(ranking[0].split);
    EXPECT_EQ(ranking[0].split->low, 3u);
    EXPECT_EQ(ranking[0].split->high, 4u);
    EXPECT_EQ(ranking[0].split->below, (ClassCounts{0, 50}));
  }
}

TEST(Ranking, TiesGoByLinesOfCode) {
  const FeatureTable t = table(200, 0);
  const auto ranking = rank_functions(t, {5, 9, 9, 20, 7}, caller,
                                      {ScoreKind::kDiscretised, ClassWeight::kAsCounted, {}, {}});
  // 1 is noise, which the criterion does not cut.
  EXPECT_EQ(ranking[1].function, 3u);
  EXPECT_EQ(ranking[2].function, 1u);
  EXPECT_EQ(ranking[3].function, 4u);
  EXPECT_EQ(ranking[4].function, 0u);
}

TEST(Ranking, PermutationsTellNoiseFromAnAnswer) {
  for (const auto weight : {ClassWeight::kAsCounted, ClassWeight::kBalanced}) {
    const ScoreOptions options{ScoreKind::kBestSplit, weight, {}, {}};
    const FeatureTable clear = table(100, 0.05);
    auto ranking = rank_functions(clear, {1, 1, 1, 1}, caller, options);
    test_by_permutation(clear, caller, options, 199, 1, ranking);
    EXPECT_EQ(ranking[0].function, 2u);
    EXPECT_DOUBLE_EQ(ranking[0].p, 1.0 / 200);
    const FeatureTable noise = table(100, 0.5);
    ranking = rank_functions(noise, {1, 1, 1, 1}, caller, options);
    test_by_permutation(noise, caller, options, 199, 1, ranking);
    EXPECT_GT(ranking[0].p, 0.05);
  }
}

// Labels that have nothing to do with the counts: an answer at the level of 5 % is a false alarm.
TEST(Ranking, RandomLabelsAreCalledNoise) {
  std::mt19937 random(11);
  for (const ScoreKind kind : {ScoreKind::kDiscretised, ScoreKind::kBestSplit}) {
    const ScoreOptions options{kind, ClassWeight::kBalanced, {}, {}};
    constexpr int kTables = 300;
    int alarms = 0;
    for (int i = 0; i < kTables; ++i) {
      FeatureTable t;
      const unsigned share = 10 + random() % 40;
      for (int run = 0; run < 40; ++run) {
        RunCounts counts;
        for (std::uint64_t f = 0; f < 12; ++f) counts.emplace_back(100 * f + 1, random() % (2 + f));
        t.add(run < 2 || random() % 100 < share ? RunClass::kFailing : RunClass::kPassing, counts);
      }
      auto ranking = rank_functions(t, std::vector<std::uint32_t>(12, 1), caller, options);
      test_by_permutation(t, caller, options, 39, static_cast<std::uint64_t>(i), ranking);
      alarms += ranking[0].score > 0 && ranking[0].p <= 0.05;
    }
    // 15 are expected; 28 or more would happen once in a thousand times.
    EXPECT_LT(alarms, 28);
    if (kind == ScoreKind::kBestSplit) EXPECT_GT(alarms, 3);
  }
}

std::optional<std::uint32_t> callee(std::uint64_t feature) {
  const auto to = static_cast<std::uint32_t>(feature % 100);
  return to < 50 ? std::optional(to) : std::nullopt;  // others are libraries'
}

// 1 is called always as often and calls 2 less often when it fails; 2 and 3 follow; 0 reports the failure;
// 4 is never reached then.
TEST(Ranking, OfTheSameScoreTheFunctionComesFirstThatTheOthersFollow) {
  FeatureTable t;
  for (int run = 0; run < 40; ++run) {
    const bool fails = run % 3 == 0;
    const std::uint64_t n = fails ? 3 : 4;
    const std::uint64_t reached = fails ? 0 : 1;
    t.add(fails ? RunClass::kFailing : RunClass::kPassing, {{1, 1},
                                                            {99, fails ? 1u : 0u},
                                                            {102, n},
                                                            {203, n},
                                                            {398, n},
                                                            {4, reached},
                                                            {403, reached}});
  }
  ScoreOptions options{ScoreKind::kBestSplit, ClassWeight::kAsCounted, {}, {}};
  options.prefer = [](std::uint64_t one, std::uint64_t other) { return one > other; };
  const std::vector<std::uint32_t> lines{50, 5, 20, 30, 40};
  const auto order = [&] {
    std::vector<std::uint32_t> functions;
    for (const RankedFunction& of : rank_functions(t, lines, caller, options))
      functions.push_back(of.function);
    return functions;
  };
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{0, 4, 3, 2, 1}));
  options.callee = callee;
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{1, 2, 0, 3, 4}));
}

TEST(FeatureTable, SelectsRuns) {
  FeatureTable t;
  std::vector<bool> kept;
  for (std::uint64_t run = 0; run < 100; ++run) {
    t.add(run % 5 == 0 ? RunClass::kFailing : RunClass::kPassing, {{1, run}, {2, run % 3}});
    kept.push_back(run % 10 != 0);
  }
  const FeatureTable part = t.select(kept);
  EXPECT_EQ(part.runs(RunClass::kFailing), 10u);
  EXPECT_EQ(part.runs(RunClass::kPassing), 80u);
  const auto values = part.column(0).values(part.runs());
  const auto others = part.column(1).values(part.runs());
  std::size_t at = 0;
  for (std::uint64_t run = 0; run < 100; ++run) {
    if (!kept[run]) continue;
    EXPECT_EQ(values[at], run);
    EXPECT_EQ(others[at], run % 3);
    ++at;
  }
}

TEST(Stability, NeedsLooksWithMoreRunsEach) {
  Stability stability;
  FeatureTable t;
  int looks = 0;
  for (int i = 0; i < 400 && !stability.stable(); ++i) {
    t.add(i % 2 == 0 ? RunClass::kFailing : RunClass::kPassing,
          {{205, static_cast<std::uint64_t>(i % 2)}});
    if (!stability.is_time(t)) continue;
    stability.look(t, rank_functions(t, {1, 1, 1}, caller, {}));
    ++looks;
  }
  EXPECT_EQ(looks, 3);
  EXPECT_GE(t.runs(), 30u);
  EXPECT_LE(t.runs(), 80u);
}

// Feature 1 is an interruption of function 7, 2 one of function 8, which calls 7.
std::optional<std::uint32_t> interrupted(std::uint64_t feature) {
  return feature == 0 ? std::nullopt : std::optional<std::uint32_t>(6 + feature);
}

std::vector<RankedFunction> interruptions(const FeatureTable& t, double explained) {
  return rank_interruptions(
      t, interrupted, {.weight = ClassWeight::kBalanced}, [=](std::uint64_t) { return explained; },
      [](std::uint32_t from, std::uint32_t to) { return from == 8 && to == 7; });
}

TEST(Interruptions, ThoseThatGoWithFailingRunsAreRanked) {
  FeatureTable t;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t fails = i % 3 == 0;
    t.add(fails ? RunClass::kFailing : RunClass::kPassing, {{0, 3}, {1, fails}, {2, 2 * fails}});
  }
  const auto ranking = interruptions(t, 0);
  ASSERT_EQ(ranking.size(), 2u);
  EXPECT_EQ(ranking[0].function, 8u);  // the caller of the other
  EXPECT_DOUBLE_EQ(ranking[0].score, 1);
  EXPECT_TRUE(interruptions(t, 1).empty());  // the numbers of calls tell as much
}

TEST(Interruptions, ThoseOfPassingRunsAreNot) {
  FeatureTable t;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t fails = i % 3 == 0;
    t.add(fails ? RunClass::kFailing : RunClass::kPassing, {{1, 1 - fails}});
  }
  EXPECT_TRUE(interruptions(t, 0).empty());
}

TEST(Ranking, WhatIsDiscountedComesBehindWhatDiffersHalfAsWell) {
  const FeatureTable t = table(200, 0.1);
  FeatureTable both;
  for (std::size_t i = 0; i < t.runs(); ++i) {
    const bool fails = t.classes()[i] == RunClass::kFailing;
    both.add(t.classes()[i], {{205, t.column(1).values(t.runs())[i]}, {301, fails ? 1 : 0}});
  }
  const auto at_the_end = [](std::uint64_t feature) { return feature == 301 ? 1.0 / 3 : 1.0; };
  const auto first = [&](const ScoreOptions& options) {
    return rank_functions(both, {9, 9, 9, 9}, caller, options)[0].function;
  };
  EXPECT_EQ(first({}), 3u);
  EXPECT_EQ(first({.discount = at_the_end}), 2u);
}

TEST(WholeCounts, WhatComesEarlierInSomeRunIsNoPhaseOfItsOwn) {
  const CallEdge earlier{0, 1, 2};
  const CallEdge at_the_end{kAtTheEnd, 1, 2};
  const CallEdge always_at_the_end{kAtTheEnd, 1, 3};
  const std::vector<CallEdge> edges{at_the_end, earlier, always_at_the_end};
  const std::unordered_map<CallEdge, std::uint64_t, CallEdgeHash> feature_of{
      {at_the_end, 0}, {earlier, 1}, {always_at_the_end, 2}};
  FeatureTable table;
  table.add(RunClass::kPassing, {{0, 3}, {2, 1}});
  table.add(RunClass::kFailing, {{1, 3}, {2, 4}});
  table.add(RunClass::kFailing, {{0, 2}, {1, 1}});
  const FeatureTable whole = with_whole_counts(table, edges, feature_of);
  using Values = std::vector<std::uint64_t>;
  std::map<std::uint64_t, Values> values;
  for (std::size_t i = 0; i < whole.features().size(); ++i)
    values[whole.features()[i]] = whole.column(i).values(whole.runs());
  EXPECT_EQ(values[0], Values({0, 0, 0}));
  EXPECT_EQ(values[1], Values({3, 3, 3}));
  EXPECT_EQ(values[2], Values({1, 4, 0}));
}

}  // namespace
}  // namespace clew
