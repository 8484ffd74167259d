// Runs that stop at a clock and are resumed from there many times.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "host/target/served_program.h"
#include "host/target/served_program_test_util.h"

namespace clew {
namespace {

class Checkpoints : public ServedProgramTest, public testing::WithParamInterface<bool> {};

TEST_P(Checkpoints, PrefixAndRestAreTheWholeRun) {
  for (const char* mode : {"plain", "streams", "handles_signals", "many_threads", "deadlock",
                           "crashes", "at_exit", "main_returns", "detached"}) {
    const JobPlan follow = recorded_job(mode, 6);
    ServedProgram program = serve(mode, GetParam(), true);
    const Seen whole = [&] {
      Seen seen = seen_of(run_one(program, follow));
      seen.output = program.output();
      seen.errors = program.errors();
      return seen;
    }();
    const std::uint64_t first = clock_at_main(program);
    ASSERT_GT(whole.clock, first + 20);
    const std::uint64_t step = (whole.clock - first) / 13;
    for (std::uint64_t stop_at = first + 1; stop_at <= whole.clock; stop_at += step) {
      SCOPED_TRACE(fmt::format("{}, checkpoint at {} of {}", mode, stop_at, whole.clock));
      const ServedJob prefix = run_one(program, up_to(follow, stop_at));
      ASSERT_EQ(prefix.result.end, JobEnd::kCheckpoint);
      EXPECT_EQ(prefix.result.clock, stop_at - 1);
      EXPECT_EQ(program.depth(), 1u);
      for (int i = 0; i < 3; ++i) {
        Seen seen = seen_of(run_one(program, follow));
        seen.output = program.output();
        seen.errors = program.errors();
        EXPECT_EQ(seen, whole);
      }
      ASSERT_TRUE(program.leave_checkpoint());
      EXPECT_EQ(program.depth(), 0u);
    }
    EXPECT_EQ(seen_of(run_one(program, follow)).hash, whole.hash);
  }
}

TEST_P(Checkpoints, Nested) {
  const JobPlan follow = recorded_job("plain", 8);
  ServedProgram program = serve("plain", GetParam());
  const Seen whole = seen_of(run_one(program, follow));
  const std::uint64_t first = clock_at_main(program);
  std::vector<std::uint64_t> clocks;
  for (const double part : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const std::uint64_t at = event(first, whole, part);
    const ServedJob prefix = run_one(program, up_to(follow, at));
    ASSERT_EQ(prefix.result.end, JobEnd::kCheckpoint);
    EXPECT_EQ(prefix.result.clock, at - 1);
    clocks.push_back(prefix.result.clock);
    EXPECT_EQ(program.depth(), clocks.size());
    EXPECT_EQ(seen_of(run_one(program, follow)), whole);
  }
  while (program.depth() > 0) {
    EXPECT_EQ(seen_of(run_one(program, follow)), whole);
    ASSERT_TRUE(program.leave_checkpoint());
  }
  EXPECT_EQ(seen_of(run_one(program, follow)), whole);
  ASSERT_TRUE(program.leave_checkpoint());  // there is none
}

TEST_P(Checkpoints, AllInOneBatch) {
  const JobPlan follow = recorded_job("plain", 8);
  ServedProgram program = serve("plain", GetParam());
  const Seen whole = seen_of(run_one(program, follow));
  const std::uint64_t first = clock_at_main(program);
  JobPlan leave;
  leave.flags = abi::kJobLeave;
  const std::vector<JobPlan> jobs{follow, up_to(follow, event(first, whole, 0.3)),
                                  follow, up_to(follow, event(first, whole, 0.6)),
                                  follow, follow,
                                  leave,  follow,
                                  leave,  follow};
  auto ran = program.run(jobs, {}, 0, nullptr);
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_EQ(ran->size(), jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].flags == 0) EXPECT_EQ(seen_of((*ran)[i]), whole) << i;
  EXPECT_EQ(program.depth(), 0u);
}

// Other strategies, too, do the same each time, whatever was resumed from there before.
TEST_P(Checkpoints, AHundredContinuations) {
  const JobPlan follow = recorded_job("crashes", 4);
  ServedProgram program = serve("crashes", GetParam());
  ServedProgram other = serve("crashes", !GetParam());
  const std::uint64_t middle =
      event(clock_at_main(program), seen_of(run_one(program, follow)), 0.4);
  for (ServedProgram* p : {&program, &other})
    ASSERT_EQ(run_one(*p, up_to(follow, middle)).result.end, JobEnd::kCheckpoint);
  std::vector<JobPlan> jobs;
  constexpr StrategyKind kKinds[] = {
      StrategyKind::kRandom,     StrategyKind::kPct,    StrategyKind::kPos,
      StrategyKind::kSurw,       StrategyKind::kRff,    StrategyKind::kChaos,
      StrategyKind::kRoundRobin, StrategyKind::kPrefix, StrategyKind::kPlan};
  for (std::uint64_t i = 0; i < 100; ++i) jobs.push_back(job(kKinds[i % std::size(kKinds)], i));
  auto first = program.run(jobs, {}, 0, nullptr);
  auto second = other.run(jobs, {}, 0, nullptr);
  ASSERT_TRUE(first && second);
  std::vector<std::uint64_t> hashes;
  std::size_t crashes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(seen_of((*first)[i]), seen_of((*second)[i])) << i;
    EXPECT_EQ((*first)[i].result.interleaving, (*second)[i].result.interleaving) << i;
    EXPECT_GE((*first)[i].result.clock, middle - 1);
    hashes.push_back((*first)[i].result.hash);
    crashes += (*first)[i].result.end == JobEnd::kSignalled;
  }
  EXPECT_GT(crashes, 0u);
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  EXPECT_GT(hashes.size(), 10u);
  EXPECT_EQ(program.depth(), 1u);
}

TEST_P(Checkpoints, NotReached) {
  ServedProgram program = serve("plain", GetParam());
  const JobPlan plain = job(StrategyKind::kNone, 1);
  const Seen whole = seen_of(run_one(program, plain));
  const std::vector<JobPlan> jobs{up_to(plain, whole.clock + 1000), plain};
  auto ran = program.run(jobs, {}, 0, nullptr);
  ASSERT_TRUE(ran && ran->size() == 2);
  EXPECT_EQ(seen_of((*ran)[0]), whole);
  EXPECT_EQ((*ran)[1].result.end, JobEnd::kNotRun);
  EXPECT_EQ(program.depth(), 0u);
  EXPECT_EQ(seen_of(run_one(program, plain)), whole);
}

// The process that holds the oldest checkpoint dies, and all above it with it.
TEST_P(Checkpoints, DeathOfAHolderIsNoticed) {
  const JobPlan follow = recorded_job("plain", 8);
  ServedProgram program = serve("plain", GetParam());
  const Seen whole = seen_of(run_one(program, follow));
  const auto kill_holder = [&] {
    // The server is this process's child, the holder the server's.
    for (const pid_t pid : processes_in(folder_))
      if (parent_of(parent_of(pid)) == getpid()) kill(pid, SIGKILL);
  };
  const std::uint64_t first = clock_at_main(program);
  for (const double part : {0.3, 0.6})
    ASSERT_EQ(run_one(program, up_to(follow, event(first, whole, part))).result.end,
              JobEnd::kCheckpoint);
  EXPECT_EQ(seen_of(run_one(program, follow)), whole);
  kill_holder();
  for (int i = 0; i < 200 && program.depth() != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(program.depth(), 0u);
  EXPECT_EQ(seen_of(run_one(program, follow)), whole);
  EXPECT_LE(processes_in(folder_).size(), 2u);
}

TEST_F(ServedProgramTest, DeathOfAHolderInTheMiddleOfABatch) {
  LaunchPlan launch = plan("endless");
  launch.budget = kDefaultBudget;
  for (const bool in_place : {false, true}) {
    ServeOptions options;
    options.in_place = in_place;
    ServedProgram program = serve(launch, options);
    const JobPlan plain = job(StrategyKind::kNone, 1);
    ASSERT_EQ(run_one(program, up_to(plain, clock_at_main(program) + 50)).result.end,
              JobEnd::kCheckpoint);
    std::jthread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      for (const pid_t pid : processes_in(folder_))
        if (parent_of(parent_of(pid)) == getpid()) kill(pid, SIGKILL);
    });
    auto ran = program.run(std::vector<JobPlan>{plain, plain, plain}, {}, 0, nullptr);
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_EQ(ran->size(), 3u);
    EXPECT_EQ((*ran)[0].result.end, JobEnd::kSignalled);
    EXPECT_EQ((*ran)[1].result.end, JobEnd::kNotRun);
    EXPECT_EQ((*ran)[2].result.end, JobEnd::kNotRun);
    EXPECT_EQ(program.depth(), 0u);
    ASSERT_EQ(run_one(program, up_to(plain, clock_at_main(program) + 50)).result.end,
              JobEnd::kCheckpoint);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Checkpoints, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "in_place" : "forked");
});

}  // namespace
}  // namespace clew
