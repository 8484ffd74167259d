// A program that is started once and run many times must do in each run what it would have done in
// a separate process.
#include "host/target/served_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/target/served_program_test_util.h"

namespace clew {
namespace {

class SameEverywhere : public ServedProgramTest, public testing::WithParamInterface<const char*> {};

TEST_P(SameEverywhere, ForkedInPlaceAndAnew) {
  const std::string mode = GetParam();
  const std::vector<JobPlan> jobs = some_jobs();
  ServedProgram forked = serve(mode, false, true);
  ServedProgram in_place = serve(mode, true, true);
  ServedProgram in_batch = serve(mode, true);
  auto batch = in_batch.run(jobs, {}, 0, nullptr);
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_EQ(batch->size(), jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SCOPED_TRACE(fmt::format("{}, job {}", mode, i));
    const auto captured = [&](ServedProgram& program, const ServedJob& ran) {
      Seen seen = seen_of(ran);
      seen.output = program.output();
      seen.errors = program.errors();
      return seen;
    };
    const ServedJob by_fork = run_one(forked, jobs[i]);
    const ServedJob by_reset = run_one(in_place, jobs[i]);
    const Seen first = captured(forked, by_fork);
    EXPECT_EQ(first, captured(in_place, by_reset));
    Seen silent = first;
    silent.output.clear();
    silent.errors.clear();
    EXPECT_EQ(silent, seen_of((*batch)[i]));
    EXPECT_EQ(by_fork.result.interleaving, by_reset.result.interleaving);
    EXPECT_EQ(by_fork.result.interleaving, (*batch)[i].result.interleaving);
    EXPECT_EQ(by_fork.result.failure, by_reset.result.failure);
    EXPECT_EQ(by_fork.result.failure_key, by_reset.result.failure_key);
    EXPECT_EQ(first, run_anew(plan(mode), jobs[i]));
  }
  EXPECT_EQ(forked.forks(), jobs.size());
}

INSTANTIATE_TEST_SUITE_P(Modes, SameEverywhere,
                         testing::Values("plain", "thread_local", "static_locals", "allocates",
                                         "streams", "file_left_open", "reads_input",
                                         "closes_standard", "handles_signals", "loads_library",
                                         "throws", "uncaught", "many_threads", "more_than_pool",
                                         "detached", "at_exit", "leaves_by_underscore", "aborts",
                                         "exit_from_thread", "main_returns", "deadlock", "endless",
                                         "once", "locales", "environment", "deep_main",
                                         "deep_thread", "crashes", "overflows", "own_pipe", "forks",
                                         "forks_sometimes", "spawns_sometimes",
                                         "changes_folder_sometimes", "protects_memory_sometimes",
                                         "replaces_mapping_sometimes", "shares_memory_sometimes"),
                         [](const auto& info) { return std::string(info.param); });

// A small program stays in one process.
TEST_F(ServedProgramTest, InPlaceNeedsOneProcess) {
  for (const char* mode : {"plain", "allocates", "streams", "file_left_open", "deep_main",
                           "deep_thread", "loads_library", "aborts", "leaves_by_underscore"}) {
    ServedProgram program = serve(mode, true);
    auto ran = program.run(some_jobs(), {}, 0, nullptr);
    ASSERT_TRUE(ran);
    EXPECT_EQ(program.forks(), 1u) << mode;
  }
}

// A process that has made a call whose effect stays is not put back, nor is any after it.
TEST_F(ServedProgramTest, IsPutBackUntilItMakesACallThatLasts) {
  const std::pair<const char*, long> kModes[] = {{"forks_sometimes", SYS_fork},
                                                 {"spawns_sometimes", SYS_vfork},
                                                 {"changes_folder_sometimes", SYS_chdir},
                                                 {"protects_memory_sometimes", SYS_mprotect},
                                                 {"replaces_mapping_sometimes", SYS_munmap},
                                                 {"shares_memory_sometimes", SYS_mmap}};
  for (const auto& [mode, call] : kModes) {
    SCOPED_TRACE(mode);
    ServedProgram program = serve(mode, true);
    std::uint64_t before = 0;  // jobs before the first such call
    std::uint64_t after = 0;
    for (std::uint64_t seed = 3; seed <= 40; ++seed) {
      const ServedJob ran = run_one(program, job(StrategyKind::kRandom, 2 * seed));
      // stir() decides by the result that is the exit status.
      EXPECT_EQ(ran.result.lasting, ran.result.status == 1 ? call : 0);
      after += after > 0;
      if (ran.result.lasting != 0 && after == 0) after = 1;
      before += after == 0;
      EXPECT_EQ(program.forks(), std::max<std::uint64_t>(1, after)) << seed;
    }
    EXPECT_GT(before, 0u) << "all runs made the call: choose other seeds";
    EXPECT_GT(after, 1u);
  }
}

// --- jobs that die -------------------------------------------------------------------------------

TEST_F(ServedProgramTest, CrashesDoNotHarmTheNext) {
  for (const bool in_place : {false, true}) {
    ServedProgram program = serve("crashes", in_place);
    const std::vector<JobPlan> jobs = some_jobs();
    auto first = program.run(jobs, {}, 0, nullptr);
    auto second = program.run(jobs, {}, 0, nullptr);
    ASSERT_TRUE(first && second);
    std::size_t crashes = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_EQ(seen_of((*first)[i]), seen_of((*second)[i]));
      crashes += (*first)[i].result.end == JobEnd::kSignalled;
    }
    EXPECT_GT(crashes, 0u);
    EXPECT_LT(crashes, jobs.size());
  }
}

TEST_F(ServedProgramTest, WatchdogEndsAJobThatSleepsInTheKernel) {
  for (const bool in_place : {false, true}) {
    ServedProgram program = serve("raw_read", in_place);
    std::vector<JobPlan> jobs;
    std::vector<ServedJob> all;
    bool stopped = false;
    for (std::uint64_t seed = 1; seed < 20 && !stopped; ++seed) {
      all.push_back(run_one(program, job(StrategyKind::kRandom, 2 * seed)));
      stopped = all.back().stopped.has_value();
    }
    ASSERT_TRUE(stopped);
    EXPECT_EQ(all.back().stopped->kind, FailureKind::kBlocked);
    EXPECT_EQ(all.back().result.end, JobEnd::kSignalled);
    // The next job is not affected.
    bool passed = false;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      EXPECT_EQ(seen_of(run_one(program, job(StrategyKind::kRandom, 2 * (i + 1)))),
                seen_of(all[i]));
      passed = true;
    }
    EXPECT_TRUE(passed || run_one(program, job(StrategyKind::kNone, 1)).result.clock > 0);
  }
}

// What a killed job found to be shared must not be lost for the jobs after it.
TEST_F(ServedProgramTest, SharingIsReportedAfterAJobWasKilled) {
  for (const bool in_place : {false, true}) {
    ServedProgram program = serve("kills_itself", in_place);
    std::vector<std::uint32_t> first;
    std::size_t killed = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const ServedJob ran = run_one(program, job(StrategyKind::kRandom, 2 * seed));
      killed += ran.result.end == JobEnd::kSignalled;
      if (ran.result.end != JobEnd::kExited) continue;
      if (first.empty()) first = ran.shared_points;
      EXPECT_EQ(first.size(), ran.shared_points.size());
    }
    EXPECT_FALSE(first.empty());
    EXPECT_GT(killed, 0u);
    EXPECT_LT(killed, 12u);
  }
}

TEST_F(ServedProgramTest, StopEndsARunThatIsUnderWay) {
  LaunchPlan launch = plan("endless");
  launch.budget = kDefaultBudget;
  for (const bool in_place : {false, true}) {
    ServeOptions options;
    options.in_place = in_place;
    ServedProgram program = serve(launch, options);
    std::atomic<bool> stop{false};
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop = true;
    });
    const JobPlan endless = job(StrategyKind::kNone, 1);
    auto ran = program.run({&endless, 1}, {}, 0, &stop);
    EXPECT_TRUE(ran && ran->size() <= 1);
    EXPECT_EQ(processes_in(folder_).size(), 0u);
  }
}

}  // namespace
}  // namespace clew
