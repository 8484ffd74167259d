#include "host/search/surw_search.h"

#include <gtest/gtest.h>

#include <set>

#include "clew_abi/stream.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

using abi::kMainThreadKey;
using abi::Place;
using abi::StepKind;
using abi::ThreadKey;

const ThreadKey kFirst = abi::child_key(kMainThreadKey, 1);
const ThreadKey kSecond = abi::child_key(kMainThreadKey, 2);

constexpr std::uint64_t kX = 0x1000, kY = 0x2000, kZ = 0x3000, kLocal = 0x4000, kLock = 0x5000;

TraceStep at(std::uint16_t index, StepKind kind, std::uint64_t object, Place place,
             std::uint32_t size = 4) {
  TraceStep event{};
  event.index = index;
  event.thread = index == 0 ? kMainThreadKey : abi::child_key(kMainThreadKey, index);
  event.kind = kind;
  event.object = object;
  event.place = place;
  event.size = size;
  return event;
}

// Two threads: x is updated three and two times, y once each; main writes both before and reads
// them behind, and z before, which one thread reads.
std::vector<TraceStep> program() {
  std::vector<TraceStep> trace{
      at(0, StepKind::kWrite, kX, 2),     at(0, StepKind::kWrite, kZ, 4),
      at(0, StepKind::kCreate, 0x901, 6), at(0, StepKind::kCreate, 0x902, 8),
      at(1, StepKind::kOther, 0, 10),     at(2, StepKind::kOther, 0, 10)};
  for (int i = 0; i < 3; ++i) trace.push_back(at(1, StepKind::kUpdate, kX, 12));
  trace.push_back(at(1, StepKind::kWrite, kY, 14));
  trace.push_back(at(1, StepKind::kWrite, kLocal, 16));
  trace.push_back(at(1, StepKind::kRead, kZ, 18));
  for (int i = 0; i < 2; ++i) trace.push_back(at(2, StepKind::kUpdate, kX, 12));
  trace.push_back(at(2, StepKind::kRead, kY, 20));
  trace.push_back(at(0, StepKind::kJoin, 0x901, 22));
  trace.push_back(at(0, StepKind::kJoin, 2, 22));
  trace.push_back(at(0, StepKind::kRead, kX, 24));
  return trace;
}

struct Guide {
  std::map<ThreadKey, std::pair<std::uint64_t, std::uint64_t>> threads;  // own, created
  std::set<Place> places;
};

Guide decode(const std::vector<std::uint8_t>& bytes) {
  Guide guide;
  abi::Reader reader(bytes.data(), bytes.size());
  for (std::uint64_t n = reader.varint(); n > 0; --n) {
    const ThreadKey key = reader.varint();
    const std::uint64_t own = reader.varint();
    guide.threads[key] = {own, reader.varint()};
  }
  for (std::uint64_t n = reader.varint(); n > 0; --n) guide.places.insert(reader.varint());
  EXPECT_TRUE(reader.ok() && reader.at_end());
  return guide;
}

JobReport report_of(std::vector<TraceStep> trace) {
  JobReport report;
  report.trace.steps = std::move(trace);
  return report;
}

TEST(Contended, IsWhatThreadsDoToOneAnother) {
  const std::vector<TraceStep> trace = program();
  const std::vector<bool> contended = clew::contended(trace);
  for (std::size_t i = 0; i < trace.size(); ++i)
    EXPECT_EQ(contended[i], trace[i].index > 0 && (trace[i].object == kX || trace[i].object == kY))
        << i;
}

TEST(Contended, ReadsDoNotConflictAndNeitherDoNeighbouringBytes) {
  const std::vector<TraceStep> trace{
      at(0, StepKind::kCreate, 0, 2),         at(0, StepKind::kRead, kX, 4),
      at(1, StepKind::kRead, kX, 6),          at(0, StepKind::kWrite, kY, 8, 4),
      at(1, StepKind::kWrite, kY + 4, 10, 4), at(0, StepKind::kWrite, kZ, 12, 100),
      at(1, StepKind::kRead, kZ + 99, 14, 1), at(1, StepKind::kRead, kZ + 100, 16, 1)};
  EXPECT_EQ(contended(trace),
            (std::vector<bool>{false, false, false, false, false, true, true, false}));
}

TEST(Contended, LocksConflict) {
  const std::vector<TraceStep> trace{
      at(0, StepKind::kCreate, 0, 2), at(0, StepKind::kLock, kLock, 4, 0),
      at(0, StepKind::kUnlock, kLock, 6, 0), at(1, StepKind::kLock, kLock, 8, 0)};
  EXPECT_EQ(contended(trace), (std::vector<bool>{false, true, true, true}));
}

TEST(InLoops, AreRoundsThatChangeNothing) {
  std::vector<TraceStep> trace;
  for (int i = 0; i < 20; ++i) {
    trace.push_back(at(1, StepKind::kRead, kX, 2));    // waits
    trace.push_back(at(2, StepKind::kUpdate, kY, 4));  // counts
    trace.push_back(
        at(3, StepKind::kRead, kZ + 8 * static_cast<std::uint64_t>(i), 6));  // looks around
  }
  const std::vector<bool> loops = in_loops(trace);
  for (std::size_t i = 0; i < trace.size(); ++i)
    EXPECT_EQ(loops[i], trace[i].index == 1 && i >= 33) << i;
}

TEST(Granules, MasksAreExact) {
  std::vector<std::pair<std::uint64_t, int>> seen;
  for_each_granule(
      at(0, StepKind::kRead, 0x1006, 2, 12),
      [&](std::uint64_t granule, std::uint8_t mask) { seen.emplace_back(granule, mask); });
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, int>>{
                      {0x200, 0xc0}, {0x201, 0xff}, {0x202, 0x03}}));
}

TEST(SurwSearch, FirstCountsThenDrawsOneObjectAtATime) {
  SurwSearch search(1);
  const std::vector<JobPlan> first = search.next(8);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].flags, abi::kJobTrace);
  search.learn(first[0], report_of(program()));

  std::map<std::set<Place>, int> drawn;
  for (const JobPlan& job : search.next(200)) {
    EXPECT_EQ(job.strategy, abi::StrategyKind::kSurw);
    const Guide guide = decode(job.guide);
    ++drawn[guide.places];
    if (guide.places == std::set<Place>{12}) {
      EXPECT_EQ(guide.threads.at(kFirst), std::pair(std::uint64_t{3}, std::uint64_t{0}));
      EXPECT_EQ(guide.threads.at(kSecond), std::pair(std::uint64_t{2}, std::uint64_t{0}));
      EXPECT_EQ(guide.threads.at(kMainThreadKey), std::pair(std::uint64_t{0}, std::uint64_t{5}));
    }
  }
  ASSERT_EQ(drawn.size(), 2u);
  // x has 5 accesses and y has 2: 1/2 * 1/2 + 1/2 * 5/7 = 0.607.
  EXPECT_NEAR((drawn[{12}]), 121, 25);
  EXPECT_GT((drawn[{14, 20}]), 40);
}

TEST(SurwSearch, CountsAreMeansAndAreRefreshed) {
  SurwSearch search(1);
  search.learn(search.next(1)[0], report_of(program()));
  std::vector<TraceStep> longer = program();
  for (int i = 0; i < 4; ++i) longer.insert(longer.begin() + 6, at(1, StepKind::kUpdate, kX, 12));
  const std::vector<JobPlan> jobs = search.next(SurwSearch::kTraceEvery);
  EXPECT_EQ(jobs.back().flags, abi::kJobTrace);
  EXPECT_EQ(jobs[2].flags, 0u);
  EXPECT_EQ(jobs[3].flags, abi::kJobTrace) << "more at first: the fourth after the first";
  search.learn(jobs.back(), report_of(longer));
  for (const JobPlan& job : search.next(20))
    if (const Guide guide = decode(job.guide); guide.places == std::set<Place>{12})
      EXPECT_EQ(guide.threads.at(kFirst).first, 5u);  // 3 and 7
}

TEST(SurwSearch, TracesAgainWhenMoreIsFoundToBeShared) {
  SurwSearch search(1);
  search.learn(search.next(1)[0], report_of(program()));
  const std::vector<JobPlan> jobs = search.next(8);
  JobReport report;
  report.result.sharing_count = 3;
  search.learn(jobs[0], report);
  const std::vector<JobPlan> then = search.next(2);
  EXPECT_EQ(then[0].flags, abi::kJobTrace);
  EXPECT_EQ(then[1].flags, 0u);
  search.recount();
  EXPECT_EQ(search.next(1)[0].flags, abi::kJobTrace);
}

TEST(SurwSearch, SomebodyElsesTraceCountsUntilThereIsOneOfItsOwn) {
  SurwSearch search(1);
  std::vector<TraceStep> twice = program();
  for (int i = 0; i < 6; ++i) twice.insert(twice.begin() + 6, at(1, StepKind::kUpdate, kX, 12));
  search.preview(report_of(twice));
  const std::vector<JobPlan> first = search.next(1);
  EXPECT_EQ(first[0].strategy, abi::StrategyKind::kSurw);
  EXPECT_TRUE(first[0].flags & abi::kJobTrace);
  search.learn(first[0], report_of(program()));
  search.preview(report_of(twice));
  for (const JobPlan& job : search.next(20)) {
    const Guide guide = decode(job.guide);
    if (guide.places.contains(12)) EXPECT_EQ(guide.threads.at(kFirst).first, 3u);
  }
}

TEST(SurwSearch, WithoutATraceItIsPos) {
  SurwSearch search(1);
  search.learn(search.next(1)[0], JobReport{});
  for (const JobPlan& job : search.next(5)) EXPECT_EQ(job.strategy, abi::StrategyKind::kPos);
}

TEST(SurwSearch, SameSeedSameJobs) {
  const auto jobs_of = [](std::uint64_t seed) {
    SurwSearch search(seed);
    search.learn(search.next(1)[0], report_of(program()));
    std::vector<JobPlan> jobs = search.next(5);
    for (JobPlan& job : search.next(45)) jobs.push_back(std::move(job));
    return jobs;
  };
  EXPECT_EQ(jobs_of(1), jobs_of(1));
  EXPECT_NE(jobs_of(1), jobs_of(2));
}

}  // namespace
}  // namespace clew
