// What jobs do to files.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host/target/served_program.h"
#include "host/target/served_program_test_util.h"

namespace clew {
namespace {

class Files : public ServedProgramTest, public testing::WithParamInterface<bool> {};

TEST_P(Files, WhatAJobMakesIsGoneBeforeTheNext) {
  const std::vector<std::string> before = listing();
  LaunchPlan launch = plan("writes_files");
  for (const char* crash : {"", "SERVED_CRASH=1"}) {
    if (*crash != '\0') launch.environment.emplace_back(crash);
    ServeOptions options;
    options.in_place = GetParam();
    options.capture = true;
    ServedProgram program = serve(launch, options);
    std::string temporaries;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const ServedJob ran = run_one(program, job(StrategyKind::kRandom, 2 * seed));
      EXPECT_LE(ran.result.status, SIGSEGV) << program.output();
      EXPECT_EQ(listing(), before);
      if (ran.result.end != JobEnd::kExited) continue;  // what it printed is lost
      const std::string output = program.output();
      EXPECT_TRUE(output.starts_with("-1 -1\n1 temporary_")) << output;
      const std::string second = output.substr(0, output.find('\n', 6));
      if (temporaries.empty()) temporaries = second;
      EXPECT_EQ(second, temporaries);
    }
    EXPECT_FALSE(temporaries.empty());
    EXPECT_GT(program.file_use().created, 6u);
    EXPECT_EQ(program.file_use().changed, 0u) << *program.file_use().changed_first;
    // A separate run uses the same names, and leaves the files.
    if (*crash != '\0') continue;
    const Seen anew = run_anew(launch, job(StrategyKind::kRandom, 2));
    EXPECT_TRUE(anew.output.starts_with(temporaries)) << anew.output << "\n" << temporaries;
    EXPECT_GT(listing().size(), before.size());
    for (const auto& entry : fs::directory_iterator(folder_))
      if (std::ranges::find(before, entry.path().filename().string()) == before.end() &&
          entry.path().filename() != "store")
        fs::remove_all(entry.path());
  }
}

TEST_P(Files, FilesThatWereThereAreKeptAndNamed) {
  for (const char* mode : {"changes_files", "removes_files"}) {
    ServedProgram program = serve(mode, GetParam());
    EXPECT_EQ(program.file_use().changed, 0u);
    const std::vector<std::string> before = listing();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      run_one(program, job(StrategyKind::kRandom, seed));
      EXPECT_EQ(listing(), before);
    }
    EXPECT_GE(program.file_use().changed, 3u);
    EXPECT_EQ(program.file_use().changed_first, (folder_ / "kept.txt").string());
  }
}

TEST_P(Files, FilesOfACheckpointStayUntilItIsLeft) {
  const JobPlan follow = recorded_job("writes_then_stirs", 6);
  fs::remove(folder_ / "early.txt");
  fs::remove(folder_ / "late.txt");
  const std::vector<std::string> before = listing();
  ServedProgram program = serve("writes_then_stirs", GetParam(), true);
  const Seen whole = seen_of(run_one(program, follow));
  const std::string output = program.output();
  EXPECT_EQ(listing(), before);
  const std::uint64_t middle = event(clock_at_main(program), whole, 0.5);
  ASSERT_EQ(run_one(program, up_to(follow, middle)).result.end, JobEnd::kCheckpoint);
  EXPECT_TRUE(fs::exists(folder_ / "early.txt"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(seen_of(run_one(program, follow)), whole);
    EXPECT_EQ(program.output(), output);
    EXPECT_TRUE(fs::exists(folder_ / "early.txt"));
    EXPECT_FALSE(fs::exists(folder_ / "late.txt"));
  }
  ASSERT_TRUE(program.leave_checkpoint());
  EXPECT_EQ(listing(), before);
  ASSERT_EQ(run_one(program, up_to(follow, middle)).result.end, JobEnd::kCheckpoint);
  {
    const ServedProgram dropped = std::move(program);
  }
  EXPECT_EQ(listing(), before);
}

INSTANTIATE_TEST_SUITE_P(Engines, Files, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "in_place" : "forked");
});

}  // namespace
}  // namespace clew
