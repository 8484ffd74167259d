// A hunt whose jobs are run by nobody: what it asks of a runner, and what it tells listeners.
#include "host/search/hunt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

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
  FakeRunner(std::vector<JobPlan>& asked, const Ends& ends) : asked_(asked), ends_(ends) {}

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
    }
    return {};
  }
  unsigned width() const override { return 1; }
  void stop_running_in_place() override {}
  void set_budget(std::uint64_t) override {}
  bool leave_files_to_one() override { return false; }
  ServedProgram::FileUse file_use() const override { return {}; }

 private:
  std::vector<JobPlan>& asked_;
  const Ends& ends_;
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
    options_.runner = [this](const LaunchPlan&, const ServeOptions&,
                             OpenInput) -> Result<std::unique_ptr<JobRunner>> {
      return std::make_unique<FakeRunner>(asked_, ends_);
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
