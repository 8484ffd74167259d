#include "host/search/criteria.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>

#include "host/search/criteria_command.h"
#include "host/search/criteria_pattern.h"

namespace clew {
namespace {

RunFacts exited(int status, std::string_view output = {}, std::string_view errors = {}) {
  RunFacts facts;
  facts.end = abi::JobEnd::kExited;
  facts.status = status;
  facts.output = output;
  facts.errors = errors;
  return facts;
}

RunFacts failed(abi::FailureKind kind) {
  RunFacts facts;
  facts.end = abi::JobEnd::kFailed;
  facts.failure = kind;
  return facts;
}

Judgement judge_one(Criteria criteria, const RunFacts& facts) {
  auto judge = Judge::create(std::move(criteria));
  EXPECT_TRUE(judge.has_value());
  auto judgement = judge->judge(facts);
  EXPECT_TRUE(judgement.has_value()) << judgement.error().message;
  return judgement.value_or(Judgement{Verdict::kUnresolved, std::nullopt, "error"});
}

TEST(Criteria, EndsOfRuns) {
  EXPECT_EQ(judge_one({}, exited(0)).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one({}, exited(0)).kind, std::nullopt);
  EXPECT_EQ(judge_one({}, exited(3)).kind, FailureKind::kExit);
  EXPECT_EQ(judge_one({}, exited(3)).detail, "exited with status 3");
  EXPECT_EQ(judge_one({}, failed(abi::FailureKind::kDeadlock)).kind, FailureKind::kDeadlock);
  EXPECT_EQ(judge_one({}, failed(abi::FailureKind::kHang)).verdict, Verdict::kFail);
  EXPECT_EQ(judge_one({}, failed(abi::FailureKind::kAssert)).kind, FailureKind::kAssert);
  EXPECT_EQ(judge_one({}, failed(abi::FailureKind::kException)).kind, FailureKind::kException);
  RunFacts killed;
  killed.end = abi::JobEnd::kSignalled;
  killed.status = SIGSEGV;
  EXPECT_EQ(judge_one({}, killed).kind, FailureKind::kSignal);
  killed.failure = abi::FailureKind::kAssert;
  EXPECT_EQ(judge_one({}, killed).kind, FailureKind::kAssert);
}

TEST(Criteria, NeitherPassNorFailure) {
  for (const auto kind : {abi::FailureKind::kUnsupported, abi::FailureKind::kInfeasible})
    EXPECT_EQ(judge_one({}, failed(kind)).verdict, Verdict::kUnresolved);
  EXPECT_EQ(judge_one({}, RunFacts{}).verdict, Verdict::kUnresolved);
}

TEST(Criteria, OnlySomeKinds) {
  Criteria criteria;
  criteria.only = {FailureKind::kDeadlock, FailureKind::kHang};
  EXPECT_EQ(judge_one(criteria, failed(abi::FailureKind::kDeadlock)).verdict, Verdict::kFail);
  EXPECT_EQ(judge_one(criteria, failed(abi::FailureKind::kHang)).verdict, Verdict::kFail);
  const Judgement other = judge_one(criteria, exited(1));
  EXPECT_EQ(other.verdict, Verdict::kUnresolved);
  EXPECT_EQ(other.kind, FailureKind::kExit);
  EXPECT_EQ(judge_one(criteria, exited(0)).verdict, Verdict::kPass);
}

TEST(Criteria, OnlyUnknownKind) {
  EXPECT_EQ(admissible_kind("judge"), FailureKind::kJudge);
  EXPECT_FALSE(admissible_kind("infeasible").has_value());
  const auto kind = admissible_kind("crash");
  ASSERT_FALSE(kind.has_value());
  EXPECT_EQ(kind.error().code, ErrorCode::kUsage);
  EXPECT_NE(kind.error().hint.find("deadlock"), std::string::npos);
  EXPECT_EQ(kind.error().hint.find("infeasible"), std::string::npos);
}

TEST(Criteria, ExpressionOnOutput) {
  Criteria criteria;
  criteria.fails_if_output = "lost [0-9]+ of";
  EXPECT_TRUE(criteria.need_output());
  EXPECT_EQ(judge_one(criteria, exited(0, "a\nlost 3 of 4\n")).kind, FailureKind::kOutput);
  EXPECT_EQ(judge_one(criteria, exited(0, "", "lost 3 of 4\n")).verdict, Verdict::kFail);
  EXPECT_EQ(judge_one(criteria, exited(0, "lost of\n")).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one(criteria, exited(1, "lost 3 of 4\n")).kind, FailureKind::kExit);
  criteria.only = {FailureKind::kOutput};
  EXPECT_EQ(judge_one(criteria, exited(1, "lost 3 of 4\n")).kind, FailureKind::kOutput);
  EXPECT_EQ(judge_one(criteria, exited(1, "none\n")).verdict, Verdict::kUnresolved);
}

TEST(Criteria, AbsenceOfOutput) {
  Criteria criteria;
  criteria.fails_unless_output = "^done$";
  EXPECT_EQ(judge_one(criteria, exited(0, "a\ndone\nb\n")).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one(criteria, exited(0, "not done\n")).kind, FailureKind::kOutput);
  EXPECT_EQ(judge_one(criteria, failed(abi::FailureKind::kHang)).kind, FailureKind::kHang);
}

TEST(Criteria, OutputUnlikeTheFirst) {
  Criteria criteria;
  criteria.fails_if_output_differs = true;
  auto judge = Judge::create(criteria);
  EXPECT_EQ(judge->judge(exited(1, "no reference"))->kind, FailureKind::kExit);
  EXPECT_EQ(judge->judge(exited(0, "one\ntwo\n"))->verdict, Verdict::kPass);
  EXPECT_EQ(judge->judge(exited(0, "one\ntwo\n"))->verdict, Verdict::kPass);
  const auto other = judge->judge(exited(0, "one\nthree\n"));
  EXPECT_EQ(other->kind, FailureKind::kOutput);
  EXPECT_EQ(other->detail,
            "standard output differs from the first run's in line 2: 'three' instead of 'two'");
  EXPECT_EQ(judge->judge(exited(0, "one\n"))->detail,
            "standard output differs from the first run's in line 2: its end instead of 'two'");
  EXPECT_EQ(judge->judge(exited(0, "one\ntwo\n", "x"))->verdict, Verdict::kFail);
  EXPECT_EQ(judge->judge(exited(0, "one\ntwo\n"))->verdict, Verdict::kPass);
}

TEST(Criteria, SanitizerReports) {
  const char* const report = "a\n==1==ERROR: AddressSanitizer: heap-use-after-free on address\nb\n";
  EXPECT_EQ(judge_one({}, exited(1, "", report)).kind, FailureKind::kSanitizer);
  EXPECT_EQ(judge_one({}, exited(1, "", report)).detail,
            "==1==ERROR: AddressSanitizer: heap-use-after-free on address");
  EXPECT_EQ(judge_one({}, exited(0, "", "p.cc:3:5: runtime error: index 4 out of bounds\n")).kind,
            FailureKind::kSanitizer);
  Criteria criteria;
  criteria.only = {FailureKind::kSanitizer};
  EXPECT_TRUE(criteria.need_output());
  EXPECT_EQ(judge_one(criteria, exited(1)).verdict, Verdict::kUnresolved);
  criteria.only = {FailureKind::kExit};
  EXPECT_EQ(judge_one(criteria, exited(1, "", report)).kind, FailureKind::kExit);
}

TEST(Criteria, JudgeDecidesByExitStatus) {
  Criteria criteria;
  criteria.judge = "grep -q good";
  EXPECT_EQ(judge_one(criteria, exited(0, "good\n")).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one(criteria, exited(9, "good\n")).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one(criteria, exited(0, "bad\n")).kind, FailureKind::kJudge);
  EXPECT_EQ(judge_one(criteria, failed(abi::FailureKind::kDeadlock)).kind, FailureKind::kDeadlock);
  criteria.judge = "exit 125";
  EXPECT_EQ(judge_one(criteria, exited(0)).verdict, Verdict::kUnresolved);
  criteria.judge = "echo 'too few'; exit 124";
  EXPECT_EQ(judge_one(criteria, exited(0)).detail, "too few");
}

TEST(Criteria, JudgeIsToldAboutTheRun) {
  Criteria criteria;
  criteria.judge =
      "[ $CLEW_EXIT_STATUS = 7 ] && [ \"$(cat \"$CLEW_STDERR_FILE\")\" = oops ] && "
      "[ \"$(cat)\" = out ]";
  EXPECT_EQ(judge_one(criteria, exited(7, "out\n", "oops\n")).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one(criteria, exited(6, "out\n", "oops\n")).verdict, Verdict::kFail);
}

TEST(Criteria, JudgeNeedNotReadItsInput) {
  Criteria criteria;
  criteria.judge = "true";
  EXPECT_EQ(judge_one(criteria, exited(0, std::string(1 << 20, 'x'))).verdict, Verdict::kPass);
}

TEST(Criteria, JudgeThatCannotJudgeIsAnError) {
  for (const char* command : {"/no/such/command", "exit 126", "kill -9 $$"}) {
    Criteria criteria;
    criteria.judge = command;
    auto judge = Judge::create(criteria);
    const auto said = judge->judge(exited(0));
    ASSERT_FALSE(said.has_value()) << command;
    EXPECT_EQ(said.error().message.find('\n'), std::string::npos);
    EXPECT_FALSE(said.error().hint.empty());
  }
}

TEST(OutputPattern, BadExpressions) {
  for (const char* bad : {"(a", "a)", "[a", "*", "a{2,1}", "(a)\\1", "a)(b"}) {
    const auto pattern = OutputPattern::create(bad, "--fails-if-output");
    ASSERT_FALSE(pattern.has_value()) << bad;
    EXPECT_EQ(pattern.error().code, ErrorCode::kUsage);
    EXPECT_EQ(pattern.error().message.find('\n'), std::string::npos);
    EXPECT_FALSE(pattern.error().hint.empty());
  }
}

TEST(OutputPattern, LongLinesAndNestedRepetition) {
  const std::string line(200'000, 'x');
  EXPECT_FALSE(OutputPattern::create("(x+)+y", "-")->found_in(line));
  EXPECT_TRUE(OutputPattern::create("x.*y", "-")->found_in(line + "y"));
  EXPECT_TRUE(OutputPattern::create("a|b", "-")->found_in(line + "b"));
}

TEST(OutputPattern, LooksAtABoundedPart) {
  const std::string text = std::string(OutputPattern::kMostText, 'x') + "end";
  EXPECT_FALSE(OutputPattern::create("end", "-")->found_in(text));
  EXPECT_TRUE(OutputPattern::create("xx", "-")->found_in(text));
}

// A zombie is gone: who reaps orphans is the machine's affair.
bool runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return (file >> number >> name >> state) && state != "Z" && state != "X";
}

TEST(RunCommand, TimeLimitEndsTheWholeGroup) {
  Command command;
  command.program = "/bin/sh";
  command.arguments = {"sh", "-c", "sleep 100 & echo $!; sleep 100"};
  command.seconds = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  const auto end = run_command(command);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, CommandEnd::How::kTimeLimit);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  const pid_t left = std::stoi(end->output);
  for (int i = 0; i < 100 && runs(left); ++i) usleep(10'000);
  EXPECT_FALSE(runs(left));
}

TEST(RunCommand, WhatItLeavesRunningHoldsNothingUp) {
  Command command;
  command.program = "/bin/sh";
  command.arguments = {"sh", "-c", "sleep 100 & echo out; echo err >&2; exit 3"};
  const auto end = run_command(command);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, CommandEnd::How::kExited);
  EXPECT_EQ(end->status, 3);
  EXPECT_EQ(end->output, "out\n");
  EXPECT_EQ(end->errors, "err\n");
}

TEST(RunCommand, OutputIsBounded) {
  Command command;
  command.program = "/bin/sh";
  command.arguments = {"sh", "-c", "head -c 3000000 /dev/zero"};
  command.most_output = 1000;
  const auto end = run_command(command);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, CommandEnd::How::kExited);
  EXPECT_EQ(end->output.size(), 1000u);
}

TEST(RunCommand, AWaitingInterruptCutsItShort) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, &before);
  kill(getpid(), SIGINT);
  Command command;
  command.program = "/bin/sh";
  command.arguments = {"sh", "-c", "sleep 100"};
  const auto end = run_command(command);
  int taken = 0;
  sigwait(&set, &taken);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, CommandEnd::How::kInterrupted);
}

TEST(RunCommand, AMissingProgram) {
  Command command;
  command.program = "/no/such/program";
  command.arguments = {"program"};
  const auto end = run_command(command);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, CommandEnd::How::kNotStarted);
  EXPECT_EQ(end->status, ENOENT);
}

}  // namespace
}  // namespace clew
