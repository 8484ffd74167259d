// Traces that do not fit into the memory there is for them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "clew_abi/trace.h"
#include "host/target/served_program.h"
#include "host/target/served_program_test_util.h"

namespace clew {
namespace {

constexpr std::uint64_t kSmall = 4096;

class Traces : public ServedProgramTest, public testing::WithParamInterface<bool> {
 protected:
  ServedProgram serve_with(const std::string& mode, std::uint64_t trace) {
    ServeOptions options;
    options.in_place = GetParam();
    options.trace = trace;
    return serve(plan(mode), options);
  }
  ServedProgram serve_with_much(const std::string& mode) {
    return serve_with(mode, ServeOptions{}.trace);
  }

  static JobPlan traced(std::uint64_t seed, std::uint32_t flags) {
    JobPlan plan = job(StrategyKind::kRandom, seed);
    plan.flags = abi::kJobAllPoints | flags;
    return plan;
  }
  static JobPlan whole(std::uint64_t seed) { return traced(seed, abi::kJobWholeTrace); }

  static std::vector<ServedJob> run(ServedProgram& program, const std::vector<JobPlan>& jobs) {
    auto ran = program.run(jobs, {}, 0, nullptr);
    EXPECT_TRUE(ran && ran->size() == jobs.size());
    return ran ? std::move(*ran) : std::vector<ServedJob>(jobs.size());
  }

  static void expect_same(const Trace& trace, const Trace& expected) {
    EXPECT_TRUE(trace.complete);
    EXPECT_TRUE(trace.steps == expected.steps)
        << trace.steps.size() << " of " << expected.steps.size();
    EXPECT_TRUE(trace.decisions == expected.decisions);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, Traces, testing::Bool(), [](const auto& parameter) {
  return parameter.param ? "in_place" : "forked";
});

TEST_P(Traces, ContinueInAFile) {
  ServedProgram much = serve_with_much("many_threads");
  const ServedJob expected = run_one(much, whole(2));
  ASSERT_TRUE(expected.trace.complete);
  ASSERT_EQ(expected.result.trace.file_size, 0u);
  ASSERT_GT(expected.trace.steps.size() * sizeof(abi::TraceAccess), 4 * abi::kTraceReserve);
  ServedProgram little = serve_with("many_threads", kSmall);
  for (int again = 0; again < 2; ++again) {
    const ServedJob ran = run_one(little, whole(2));
    EXPECT_EQ(seen_of(ran), seen_of(expected));
    EXPECT_GT(ran.result.trace.file_size, abi::kTraceReserve);
    expect_same(ran.trace, expected.trace);
  }
}

TEST_P(Traces, OfABatchDoNotMix) {
  const std::vector<JobPlan> jobs{whole(2), traced(4, abi::kJobTrace), whole(4), traced(6, 0),
                                  whole(6)};
  ServedProgram much = serve_with_much("many_threads");
  const std::vector<ServedJob> expected = run(much, jobs);
  ServedProgram little = serve_with("many_threads", kSmall);
  const std::vector<ServedJob> ran = run(little, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(seen_of(ran[i]), seen_of(expected[i]));
    if (i != 1) expect_same(ran[i].trace, expected[i].trace);
  }
  // Without the file it is left out.
  EXPECT_FALSE(ran[1].trace.complete);
  EXPECT_TRUE(ran[1].trace.empty());
  EXPECT_TRUE(expected[1].trace.complete);
  EXPECT_FALSE(expected[1].trace.empty());
}

TEST_P(Traces, OfARunThatFollowsHaveTheirDecisionsInTheFileToo) {
  JobPlan follow = recorded_job("many_threads", 2);
  follow.flags |= abi::kJobWholeTrace;
  follow.window = {1, UINT64_MAX};
  ServedProgram much = serve_with_much("many_threads");
  ServedProgram little = serve_with("many_threads", kSmall);
  const ServedJob expected = run_one(much, follow);
  EXPECT_GT(expected.trace.decisions.size(), 100u);
  expect_same(run_one(little, follow).trace, expected.trace);
}

TEST_P(Traces, AreCutOffWhereTheFileMayNotGrow) {
  ServedProgram much = serve_with_much("limits_files");
  const ServedJob expected = run_one(much, whole(2));
  EXPECT_EQ(expected.result.end, JobEnd::kExited);
  ASSERT_TRUE(expected.trace.complete);
  ServedProgram little = serve_with("limits_files", kSmall);
  const ServedJob ran = run_one(little, whole(2));
  EXPECT_EQ(seen_of(ran), seen_of(expected));
  EXPECT_FALSE(ran.trace.complete);
  const std::size_t size = ran.trace.steps.size();
  EXPECT_GT(size * sizeof(abi::TraceAccess), 128u << 10);  // file and memory
  ASSERT_LT(size, expected.trace.steps.size());
  EXPECT_TRUE(std::ranges::equal(ran.trace.steps, std::span(expected.trace.steps).first(size)));
}

TEST_P(Traces, AreLeftOutWithoutAFile) {
  setenv("TMPDIR", "/nowhere", 1);
  ServedProgram little = serve_with("many_threads", kSmall);
  const ServedJob ran = run_one(little, whole(2));
  unsetenv("TMPDIR");
  EXPECT_EQ(ran.result.end, JobEnd::kExited);
  EXPECT_FALSE(ran.trace.complete);
  EXPECT_TRUE(ran.trace.empty());
}

TEST_P(Traces, OfAJobThatDiesAreIncomplete) {
  ServedProgram program = serve_with_much("kills_itself");
  int deaths = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ServedJob ran = run_one(program, whole(seed));
    const bool died = ran.result.end == JobEnd::kSignalled;
    EXPECT_EQ(ran.trace.complete, !died);
    deaths += died;
  }
  EXPECT_GT(deaths, 0);
}

}  // namespace
}  // namespace clew
