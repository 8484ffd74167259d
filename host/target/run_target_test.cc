#include "host/target/run_target.h"

#include <gtest/gtest.h>

#include "host/recording/test_util.h"
#include "host/target/replay.h"

namespace clew {
namespace {

class RunTarget : public FolderTest {
 protected:
  LaunchPlan plan(std::vector<std::string> words) const {
    words.insert(words.begin(), CLEW_RUN_TARGET);
    LaunchPlan plan = plan_here(CLEW_RUN_TARGET, words);
    plan.working_folder = folder_;
    plan.output = OutputMode::kCaptureOnly;
    return plan;
  }

  Draft draft() { return RecordingStore::open(folder_ / ".clew").value().create().value(); }

  static Result<RunResult> run(const LaunchPlan& plan, const Draft* draft) {
    RunObserver quiet;
    return run_target(plan, InputFeed::empty().value(), draft, quiet);
  }

  // Runs, records, and returns what a replay needs.
  Replay recorded(const LaunchPlan& plan) {
    Draft made = draft();
    const auto ran = run(plan, &made);
    EXPECT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->summary.exit_status, 0);
    Meta meta = meta_of(plan);
    meta.stdout_data = ran->output;
    meta.stderr_data = ran->errors;
    meta.inputs = ran->inputs;
    Recording recording = made.commit(meta).value();
    LaunchPlan again = plan_of(recording, {});
    again.output = OutputMode::kCaptureOnly;
    return {std::move(recording), std::move(again)};
  }
};

TEST_F(RunTarget, InputsAreRecordedAndGivenBack) {
  for (const char* size : {"1", "1000", "100000000"}) {
    const Replay replay = recorded(plan({"inputs", size}));
    ASSERT_TRUE(replay.recording.meta.inputs);
    EXPECT_EQ(std::to_string(replay.recording.meta.inputs->size), size);
    RunObserver quiet;
    const auto again = run_replay(replay, quiet);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->summary.exit_status, 0) << size;
  }
}

TEST_F(RunTarget, ARunWithoutInputsHasNoFileAndIsReplayedWithoutThem) {
  const Replay replay = recorded(plan({"inputs", "0"}));
  EXPECT_FALSE(replay.recording.meta.inputs);
  EXPECT_FALSE(std::filesystem::exists(replay.recording.inputs_file()));
  RunObserver quiet;
  EXPECT_EQ(run_replay(replay, quiet).value().summary.exit_status, 0);
}

TEST_F(RunTarget, DamagedInputsAreRefused) {
  const Replay replay = recorded(plan({"inputs", "1000"}));
  spill(replay.recording.inputs_file(), "damage");
  RunObserver quiet;
  const auto again = run_replay(replay, quiet);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kBadInput);
  EXPECT_NE(again.error().message.find("inputs is damaged"), std::string::npos);
}

TEST_F(RunTarget, AnOverwrittenHeadEndsTheRun) {
  Draft made = draft();
  const auto ran = run(plan({"overwrite"}), &made);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->summary.failure->kind, FailureKind::kOverwritten);
}

TEST_F(RunTarget, WaitingForWhatDoesNotComeIsCalledThat) {
  const auto ran = run(plan({"outside"}), nullptr);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->summary.outcome, Outcome::kUnresolved);
  EXPECT_EQ(ran->summary.failure->kind, FailureKind::kBlocked);
  EXPECT_EQ(ran->summary.failure->detail,
            "every thread is blocked, and what they wait for has not come from outside");
}

TEST_F(RunTarget, TheRuntimeIsPreloadedBeforeWhatTheUserPreloads) {
  const auto seen = [&](const LaunchPlan& plan) {
    Draft made = draft();
    EXPECT_TRUE(run(plan, &made));
    return slurp(made.path() / "stdout");
  };
  LaunchPlan with = plan({"environment"});
  std::erase_if(with.environment, [](const auto& text) { return text.starts_with("LD_PRELOAD="); });
  EXPECT_EQ(seen(with), "none|none");
  with.preload = "/lib/x86_64-linux-gnu/libm.so.6";
  EXPECT_EQ(seen(with), with.preload + "|1");
  with.environment.insert(with.environment.begin(), "LD_PRELOAD=libdl.so.2");
  EXPECT_EQ(seen(with), with.preload + ":libdl.so.2|1");
  with.environment.front() = "LD_PRELOAD=";
  EXPECT_EQ(seen(with), with.preload + ":|1");
}

}  // namespace
}  // namespace clew
