// A counted run is the run that it would be without being counted: the same clock, hash, end and output.
#include "host/calls/counted_jobs.h"

#include <gtest/gtest.h>

#include "host/target/served_program_test_util.h"
#include "host/target/workers.h"

namespace clew {
namespace {

class Counted : public ServedProgramTest, public testing::WithParamInterface<const char*> {};

TEST_P(Counted, IsTheSameRun) {
  const LaunchPlan launch = plan(GetParam());
  const std::vector<JobPlan> jobs = some_jobs();
  const auto open_input = [this]() -> Result<FileDescriptor> { return input(); };
  ServeOptions options;
  options.in_place = true;
  options.capture = true;
  const auto run = [&](JobRunner& runner) {
    std::vector<RanJob> results;
    EXPECT_TRUE(runner.start(kPool));
    EXPECT_TRUE(runner.run(jobs, {}, kAllChoices, [](std::uint64_t) { return true; }, results));
    return results;
  };
  Workers plain(launch, options, 1, open_input);
  CountedJobs counted(CountLevel::kCallsAndLines, GraphKind::kReduced, CallDetail::kOwnCalls);
  auto runner = counted.factory(2)(launch, options, open_input);
  ASSERT_TRUE(runner);
  const auto expected = run(plain);
  const auto actual = run(**runner);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const abi::JobResult& a = actual[i].job.result;
    const abi::JobResult& b = expected[i].job.result;
    EXPECT_EQ(a.end, b.end) << i;
    EXPECT_EQ(a.status, b.status) << i;
    EXPECT_EQ(a.clock, b.clock) << i;
    EXPECT_EQ(a.hash, b.hash) << i;
    EXPECT_EQ(a.interleaving, b.interleaving) << i;
    EXPECT_EQ(actual[i].output, expected[i].output) << i;
    const auto counts = counted.take(a.number);
    ASSERT_TRUE(counts) << i;
    EXPECT_FALSE(counts->empty()) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Counted,
                         testing::Values("plain", "once", "locales", "environment", "deep_main",
                                         "deep_thread", "forks_sometimes"));

}  // namespace
}  // namespace clew
