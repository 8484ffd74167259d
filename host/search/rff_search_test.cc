#include "host/search/rff_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "clew_abi/stream.h"

namespace clew {
namespace {

using abi::Place;
using abi::StepKind;

constexpr std::uint64_t kX = 0x1000, kY = 0x2000;

TraceStep at(std::uint16_t index, StepKind kind, std::uint64_t object, Place place,
             std::uint32_t size = 4) {
  TraceStep event{};
  event.index = index;
  event.thread = index == 0 ? abi::kMainThreadKey : abi::child_key(abi::kMainThreadKey, index);
  event.kind = kind;
  event.object = object;
  event.place = place;
  event.size = size;
  return event;
}

std::vector<RffConstraint> decode(const std::vector<std::uint8_t>& bytes,
                                  std::set<Place>* rivals = nullptr) {
  std::vector<RffConstraint> constraints;
  abi::Reader reader(bytes.data(), bytes.size());
  for (std::uint64_t n = reader.varint(); n > 0; --n) {
    RffConstraint constraint;
    constraint.write = reader.varint();
    constraint.read = reader.varint();
    constraint.sign = static_cast<RffSign>(reader.varint());
    constraints.push_back(constraint);
  }
  for (std::uint64_t n = reader.varint(); n > 0; --n) {
    const Place rival = reader.varint();
    if (rivals != nullptr) rivals->insert(rival);
  }
  EXPECT_TRUE(reader.ok() && reader.at_end());
  return constraints;
}

// Main creates two threads. The first writes x at 10 and reads y at 12, the second writes y at 20
// and reads x at 22; `order` says who runs next, as 1 or 2.
std::vector<TraceStep> store_buffering(const std::vector<int>& order) {
  const std::array<std::array<TraceStep, 2>, 2> steps{
      {{at(1, StepKind::kWrite, kX, 10), at(1, StepKind::kRead, kY, 12)},
       {at(2, StepKind::kWrite, kY, 20), at(2, StepKind::kRead, kX, 22)}}};
  std::vector<TraceStep> trace{at(0, StepKind::kCreate, 0x901, 2),
                               at(0, StepKind::kCreate, 0x902, 4)};
  std::array<std::size_t, 2> next{};
  for (const int who : order)
    trace.push_back(
        steps[static_cast<std::size_t>(who - 1)][next[static_cast<std::size_t>(who - 1)]++]);
  return trace;
}

JobReport report_of(std::vector<TraceStep> trace) {
  JobReport report;
  report.trace.steps = std::move(trace);
  return report;
}

TEST(ReadsFromPairs, AreThoseOfTheLastWrite) {
  const ReadsFromPairs pairs = reads_from(store_buffering({1, 1, 2, 2}));
  EXPECT_EQ(pairs.observed, (std::vector<ReadsFrom>{{0, 12}, {10, 22}}));
  EXPECT_EQ(pairs.possible, (std::vector<ReadsFrom>{{0, 12}, {0, 22}, {10, 22}, {20, 12}}));
}

TEST(ReadsFromPairs, AWriteWithinAnotherIsSeen) {
  const std::vector<TraceStep> trace{
      at(0, StepKind::kCreate, 0x901, 2),     at(0, StepKind::kWrite, kX, 4, 16),
      at(1, StepKind::kWrite, kX + 12, 6, 2), at(0, StepKind::kRead, kX, 8, 16),
      at(0, StepKind::kRead, kX, 12, 8),      at(1, StepKind::kUpdate, kX, 14, 1),
      at(0, StepKind::kRead, kX, 16, 8)};
  EXPECT_EQ(reads_from(trace).observed,
            (std::vector<ReadsFrom>{{4, 12}, {4, 14}, {6, 8}, {14, 16}}));
}

TEST(ReadsFromPairs, WhatOneThreadHasToItselfDoesNotCount) {
  const std::vector<TraceStep> trace{
      at(0, StepKind::kWrite, kX, 2), at(0, StepKind::kCreate, 0x901, 4),
      at(1, StepKind::kRead, kX, 6),  at(1, StepKind::kWrite, kY, 8),
      at(1, StepKind::kRead, kY, 10), at(0, StepKind::kJoin, 0x901, 12),
      at(0, StepKind::kRead, kY, 14)};
  EXPECT_TRUE(reads_from(trace).possible.empty());
}

TEST(RffSearch, StartsEmptyAndThenConstrainsWhatWasSeen) {
  RffSearch search(1);
  const std::vector<JobPlan> first = search.next(16);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].flags, abi::kJobTrace);
  EXPECT_TRUE(decode(first[0].guide).empty());
  search.learn(first[0], report_of(store_buffering({1, 1, 2, 2})));

  const std::vector<ReadsFrom> possible = reads_from(store_buffering({1, 1, 2, 2})).possible;
  std::map<ReadsFrom, int> proposed;
  int negative = 0;
  const std::vector<JobPlan> jobs = search.next(200);
  ASSERT_EQ(jobs.size(), 200u);
  for (const JobPlan& job : jobs) {
    EXPECT_EQ(job.flags, abi::kJobTrace);
    std::set<Place> rivals;
    const std::vector<RffConstraint> constraints = decode(job.guide, &rivals);
    ASSERT_EQ(constraints.size(), 1u);  // mutants of the empty one
    if (constraints[0] == RffConstraint{0, 12, RffSign::kPositive})
      EXPECT_EQ(rivals, std::set<Place>{20});
    else if (constraints[0] == RffConstraint{0, 22, RffSign::kPositive})
      EXPECT_EQ(rivals, std::set<Place>{10});
    else
      EXPECT_TRUE(rivals.empty());
    const ReadsFrom pair{constraints[0].write, constraints[0].read};
    EXPECT_TRUE(std::ranges::binary_search(possible, pair));
    ++proposed[pair];
    negative += constraints[0].sign == RffSign::kNegative;
  }
  EXPECT_EQ(proposed.size(), 4u);
  EXPECT_NEAR(negative, 100, 30);
}

TEST(RffSearch, NewPairsAndNewCombinationsEnterTheCorpus) {
  RffSearch search(1);
  search.learn(search.next(1)[0], report_of(store_buffering({1, 1, 2, 2})));
  EXPECT_EQ(search.corpus_size(), 1u);
  const auto round = [&](const std::vector<int>& order, Verdict verdict) {
    const JobPlan job = search.next(1).at(0);
    JobReport report = report_of(store_buffering(order));
    report.verdict = verdict;
    search.learn(job, report);
  };
  round({1, 1, 2, 2}, Verdict::kPass);  // nothing new
  EXPECT_EQ(search.corpus_size(), 1u);
  round({1, 2, 1, 2}, Verdict::kPass);  // the first reads the second's y
  EXPECT_EQ(search.corpus_size(), 2u);
  const std::size_t before = search.corpus_size();
  round({2, 2, 1, 1}, Verdict::kFail);  // new, but failed
  EXPECT_EQ(search.corpus_size(), before);
}

TEST(RffSearch, MutantsOfMutantsGrow) {
  // Every run shows something new, so that every mutant is kept.
  RffSearch search(1);
  std::size_t longest = 0;
  Place fresh = 1000;
  for (int i = 0; i < 400; ++i) {
    const JobPlan job = search.next(1).at(0);
    const std::vector<RffConstraint> constraints = decode(job.guide);
    longest = std::max(longest, constraints.size());
    for (std::size_t j = 1; j < constraints.size(); ++j)
      EXPECT_LT(std::tie(constraints[j - 1].write, constraints[j - 1].read),
                std::tie(constraints[j].write, constraints[j].read));
    search.learn(job, report_of({at(0, StepKind::kCreate, 0x901, 2), at(0, StepKind::kWrite, kX, 4),
                                 at(1, StepKind::kRead, kX, fresh += 2)}));
  }
  EXPECT_GT(longest, 2u);
  EXPECT_LE(longest, RffSearch::kMostConstraints);
  EXPECT_GT(search.corpus_size(), 100u);
  EXPECT_LE(search.corpus_size(), RffSearch::kMostEntries);
}

TEST(RffSearch, FavoursRareSignatures) {
  // Runs with a negative constraint on (10, 22) have a signature of their own, the rarer one: more
  // than half of the mutants should then have it in their ancestry, that is, contain it.
  RffSearch search(2);
  search.learn(search.next(1)[0], report_of(store_buffering({1, 1, 2, 2})));
  int with = 0;
  constexpr int kRuns = 2000;
  for (int i = 0; i < kRuns; ++i) {
    const JobPlan job = search.next(1).at(0);
    const std::vector<RffConstraint> constraints = decode(job.guide);
    const bool rare =
        std::ranges::count(constraints, RffConstraint{10, 22, RffSign::kNegative}) > 0;
    with += rare;
    search.learn(
        job, report_of(store_buffering(rare ? std::vector{2, 2, 1, 1} : std::vector{1, 1, 2, 2})));
  }
  EXPECT_GT(with, kRuns / 5);      // by chance it would be an eighth
  EXPECT_LT(with, kRuns * 3 / 4);  // both signatures are kept alive
}

TEST(RffSearch, SameSeedSameJobs) {
  const auto jobs_of = [](std::uint64_t seed) {
    RffSearch search(seed);
    std::vector<JobPlan> all;
    for (const std::size_t most : {4, 8, 8, 8})
      for (const JobPlan& job : search.next(most)) {
        all.push_back(job);
        search.learn(job,
                     report_of(store_buffering(all.size() % 3 == 0 ? std::vector{1, 2, 1, 2}
                                                                   : std::vector{1, 1, 2, 2})));
      }
    return all;
  };
  EXPECT_EQ(jobs_of(1), jobs_of(1));
  EXPECT_NE(jobs_of(1), jobs_of(2));
}

TEST(RffSearch, WithoutATraceItGoesOn) {
  RffSearch search(1);
  search.learn(search.next(4)[0], JobReport{});
  EXPECT_EQ(search.next(4).size(), 4u);
}

TEST(RffSearch, ALongTraceIsQuick) {
  Random random(1);
  std::vector<TraceStep> trace{at(0, StepKind::kCreate, 0x901, 2)};
  while (trace.size() < 150'000)
    trace.push_back(at(static_cast<std::uint16_t>(random.below(2)),
                       random.below(3) == 0 ? StepKind::kWrite : StepKind::kRead,
                       kX + 8 * random.below(20'000), 10 + 2 * random.below(500), 8));
  const auto start = std::chrono::steady_clock::now();
  const ReadsFromPairs pairs = reads_from(trace);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 5.0);  // half a second with sanitizers
  EXPECT_FALSE(pairs.observed.empty());
}

}  // namespace
}  // namespace clew
