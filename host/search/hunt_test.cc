// A hunt whose jobs are run by nobody: what it asks of a runner, and what it tells listeners.
#include "host/search/hunt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <utility>

namespace clew {
namespace {

// Every run passes, with an interleaving of its own for every third seed.
class FakeRunner final : public JobRunner {
 public:
  // After so many jobs.
  struct Ends {
    std::size_t interrupted_at = SIZE_MAX;
    std::size_t fails_at = SIZE_MAX;
    std::size_t skips_one_from = SIZE_MAX;
  };
  // Changes what a job of this plan results in.
  using Results = std::function<void(const LaunchPlan&, abi::JobResult&)>;
  FakeRunner(LaunchPlan plan, std::vector<JobPlan>& asked, const Ends& ends, const Results& results)
      : plan_(std::move(plan)), asked_(asked), ends_(ends), results_(results) {}

  Result<void> start(std::uint32_t) override {
    ++starts_;
    return {};
  }
  Result<void> run(std::span<const JobPlan> jobs, std::span<const std::uint8_t>, std::uint32_t,
                   const Pulse& pulse, std::vector<RanJob>& ran) override {
    EXPECT_GT(starts_, 0);
    ran.clear();
    ran.resize(jobs.size());
    for (std::size_t i = 0; i < jobs.size() && pulse(i); ++i) {
      if (i == 1 && asked_.size() >= ends_.skips_one_from) continue;  // another worker had it
      if (asked_.size() == ends_.fails_at) return fail(ErrorCode::kSystem, "the machine is gone");
      if (asked_.size() == ends_.interrupted_at) raise(SIGINT);
      asked_.push_back(jobs[i]);
      ran[i].done = true;
      ran[i].job.result.end = abi::JobEnd::kExited;
      ran[i].job.result.interleaving = asked_.size() % 3;
      ran[i].job.result.clock = asked_.size();
      ran[i].job.result.threads = 2;
      if (results_) results_(plan_, ran[i].job.result);
    }
    return {};
  }
  unsigned width() const override { return 1; }
  void stop_running_in_place() override {}
  void set_budget(std::uint64_t) override {}
  bool leave_files_to_one() override { return false; }
  ServedProgram::FileUse file_use() const override { return {}; }

 private:
  LaunchPlan plan_;
  std::vector<JobPlan>& asked_;
  const Ends& ends_;
  const Results& results_;
  int starts_ = 0;
};

struct Listener final : ReportListener {
  struct Told {
    JobPlan plan;
    std::uint64_t clock;
    Verdict verdict;
    bool new_interleaving;
  };
  std::vector<Told> told;
  void learn(const JobPlan& plan, const JobReport& report) override {
    told.push_back({plan, report.result.clock, report.verdict, report.new_interleaving});
  }
};

struct Quiet final : HuntObserver {
  void status(const HuntStatus&) override {}
  void found(const FoundFailure&) override { ADD_FAILURE(); }
};

class HuntTest : public testing::Test {
 protected:
  HuntTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("clew_hunt_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    options_.strategy = "random";
    options_.runner = [this](const LaunchPlan& plan, const ServeOptions&,
                             OpenInput) -> Result<std::unique_ptr<JobRunner>> {
      return std::make_unique<FakeRunner>(plan, asked_, ends_, results_);
    };
  }
  ~HuntTest() override { std::filesystem::remove_all(folder_); }

  Result<HuntResult> run(std::span<ReportListener* const> listeners) {
    CLEW_TRY(auto store, RecordingStore::open(folder_));
    Quiet quiet;
    return hunt(options_, store, quiet, listeners);
  }

  std::filesystem::path folder_;
  HuntOptions options_;
  std::vector<JobPlan> asked_;
  FakeRunner::Ends ends_;
  FakeRunner::Results results_;
};

TEST_F(HuntTest, AsksTheRunnerItIsGiven) {
  options_.schedules = 40;
  const auto result = run({});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->schedules, 40u);
  EXPECT_EQ(result->interleavings, 3u);
  EXPECT_EQ(asked_.size(), 40u);
  for (const JobPlan& plan : asked_) EXPECT_EQ(plan.strategy, abi::StrategyKind::kRandom);
}

TEST_F(HuntTest, TellsEveryListenerEveryReportInOrder) {
  options_.schedules = 100;
  Listener first, second;
  ReportListener* const listeners[] = {&first, &second};
  ASSERT_TRUE(run(listeners));
  for (const Listener* listener : {&first, &second}) {
    ASSERT_EQ(listener->told.size(), 100u);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(listener->told[i].plan, asked_[i]) << i;
      EXPECT_EQ(listener->told[i].clock, i + 1);
      EXPECT_EQ(listener->told[i].verdict, Verdict::kPass);
      EXPECT_EQ(listener->told[i].new_interleaving, i < 3);
    }
  }
}

// In the middle of a round, which has many jobs by then.
TEST_F(HuntTest, EveryRunIsJudgedWhateverEndsTheHunt) {
  Listener listener;
  ReportListener* const listeners[] = {&listener};
  ends_ = {.interrupted_at = 500, .skips_one_from = 300};
  const auto interrupted = run(listeners);
  ASSERT_TRUE(interrupted) << interrupted.error().message;
  EXPECT_EQ(interrupted->interrupted_by, SIGINT);
  EXPECT_EQ(interrupted->schedules, asked_.size());
  EXPECT_EQ(asked_.size(), 501u);
  EXPECT_EQ(listener.told.size(), 501u);

  listener.told.clear();
  asked_.clear();
  ends_ = {.fails_at = 500};
  EXPECT_FALSE(run(listeners)) << "nothing was found, so the error is the result";
  EXPECT_EQ(listener.told.size(), 500u);
}

// The first run has one thread, and the second and fourth child have more.
TEST_F(HuntTest, IsInTheChildThatHasTheThreads) {
  std::vector<std::uint32_t> entered;
  std::uint64_t failed = 0;
  results_ = [&](const LaunchPlan& plan, abi::JobResult& result) {
    entered.push_back(plan.enter_child);
    if (plan.enter_child != 0) return;
    result.threads = 1;
    result.lasting = SYS_fork;
    result.threaded_children = 0b1010;
    result.failed_children = failed;
  };
  options_.schedules = 5;
  const auto hunted = [&] {
    entered.clear();
    const auto result = run({});
    EXPECT_TRUE(result);
    return result ? result->schedules : 0;
  };
  EXPECT_EQ(hunted(), 5u);
  EXPECT_EQ(entered, (std::vector<std::uint32_t>{0, 2, 2, 2, 2, 2}));
  failed = 0b0010;  // which the program expects
  EXPECT_EQ(hunted(), 5u);
  EXPECT_EQ(entered.back(), 4u);
  failed = 0b1010;
  EXPECT_EQ(hunted(), 5u);
  EXPECT_EQ(entered.back(), 0u);
  options_.plan.enter_child = 7;
  EXPECT_EQ(hunted(), 5u);
  EXPECT_EQ(entered, (std::vector<std::uint32_t>{7, 7, 7, 7, 7}));
}

// Twenty seconds, a second of them by points: with a faster clock fewer points are passed.
TEST_F(HuntTest, IsFasterByAClockThatTheProgramWaitsFor) {
  std::vector<std::uint32_t> speeds;
  bool waits = true;
  results_ = [&](const LaunchPlan& plan, abi::JobResult& result) {
    speeds.push_back(plan.clock_speed);
    result.uncovered = abi::kUncoveredTime;
    result.time = 20'000'000'000;
    result.busy_time = 1'000'000'000;
    result.clock = waits ? 100'000'000 / plan.clock_speed : 100'000'000;
    result.switches = 10;
  };
  options_.schedules = 3;
  const auto result = run({});
  ASSERT_TRUE(result);
  EXPECT_EQ(speeds, (std::vector<std::uint32_t>{1, 100, 100, 100}));
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_NE(result->notes[0].find("20.0 s by the program's own clock"), std::string::npos);

  waits = false;  // it reads its clock, but does as much work as it has
  speeds.clear();
  ASSERT_TRUE(run({}));
  EXPECT_EQ(speeds, (std::vector<std::uint32_t>{1, 100, 1, 1, 1}));

  options_.clock_speed_is_given = true;
  options_.plan.clock_speed = 3;
  speeds.clear();
  ASSERT_TRUE(run({}));
  EXPECT_EQ(speeds, (std::vector<std::uint32_t>{3, 3, 3}));
}

TEST_F(HuntTest, PassesOnThatThereIsNoRunner) {
  options_.runner = [](const LaunchPlan&, const ServeOptions&,
                       OpenInput) -> Result<std::unique_ptr<JobRunner>> {
    return fail(ErrorCode::kSystem, "no machine answers");
  };
  const auto result = run({});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no machine answers");
}

}  // namespace
}  // namespace clew
