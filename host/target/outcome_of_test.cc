#include "host/target/outcome_of.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "host/target/exit_status.h"

namespace clew {
namespace {

int exited(int status) { return status << 8; }

RunResult judged(const EndFacts& facts, Reports reports = {}) {
  RunResult run;
  run.summary = summarize(facts, reports);
  run.reports = std::move(reports);
  return run;
}

Reports failing(abi::FailureKind kind) {
  Reports reports;
  reports.threads = {{"T0", "", 0}, {"T0.1", "worker", 0}};
  reports.failure = FailureReport{kind, 1, "what happened", "a.cc", 7, "f()", {}};
  return reports;
}

TEST(OutcomeOf, ExitZeroPasses) {
  const RunResult run = judged({exited(0), 42, {}});
  EXPECT_EQ(run.summary.outcome, Outcome::kPass);
  EXPECT_FALSE(run.summary.failure);
  EXPECT_EQ(run.summary.clock, 42u);
  EXPECT_EQ(exit_status_of(run), 0);
}

TEST(OutcomeOf, ExitStatusFails) {
  const RunResult run = judged({exited(3), 0, {}});
  EXPECT_EQ(run.summary.outcome, Outcome::kFail);
  EXPECT_EQ(run.summary.failure->kind, FailureKind::kExit);
  EXPECT_EQ(run.summary.failure->detail, "exited with status 3");
  EXPECT_EQ(exit_status_of(run), 3);
}

TEST(OutcomeOf, SignalFailsByName) {
  const RunResult run = judged({SIGSEGV, 0, {}});
  EXPECT_EQ(run.summary.outcome, Outcome::kFail);
  EXPECT_EQ(run.summary.failure->kind, FailureKind::kSignal);
  EXPECT_EQ(run.summary.failure->detail, "SIGSEGV");
  EXPECT_EQ(exit_status_of(run), 128 + SIGSEGV);
}

TEST(OutcomeOf, TheReportDecides) {
  const RunResult run = judged({SIGABRT, 0, {}}, failing(abi::FailureKind::kAssert));
  EXPECT_EQ(run.summary.outcome, Outcome::kFail);
  EXPECT_EQ(run.summary.failure->kind, FailureKind::kAssert);
  EXPECT_EQ(run.summary.failure->thread, "T0.1");
  EXPECT_EQ(run.summary.failure->at->line, 7u);
  EXPECT_EQ(exit_status_of(run), 128 + SIGABRT);
}

TEST(OutcomeOf, KindsMapToOutcomes) {
  const auto outcome = [](abi::FailureKind kind) {
    return judged({exited(122), 0, {}}, failing(kind));
  };
  EXPECT_EQ(outcome(abi::FailureKind::kDeadlock).summary.outcome, Outcome::kFail);
  EXPECT_EQ(exit_status_of(outcome(abi::FailureKind::kDeadlock)), kExitDeadlock);
  EXPECT_EQ(outcome(abi::FailureKind::kHang).summary.outcome, Outcome::kHang);
  EXPECT_EQ(exit_status_of(outcome(abi::FailureKind::kHang)), kExitHang);
  for (const auto kind : {abi::FailureKind::kUnsupported, abi::FailureKind::kInfeasible}) {
    EXPECT_EQ(outcome(kind).summary.outcome, Outcome::kUnresolved);
    EXPECT_EQ(exit_status_of(outcome(kind)), kExitUnresolved);
  }
}

TEST(OutcomeOf, DepartureIsUnresolvedAndDistinct) {
  Reports reports;
  reports.departure = Departure{5, 0, 1, 0, 0, "another thread"};
  const RunResult run = judged({exited(122), 0, {}}, reports);
  EXPECT_EQ(run.summary.outcome, Outcome::kUnresolved);
  EXPECT_EQ(run.summary.failure->kind, FailureKind::kDeparture);
  EXPECT_EQ(exit_status_of(run), kExitDeparted);
}

TEST(OutcomeOf, WhatClewStoppedIsUnresolved) {
  RunResult run = judged({SIGKILL, 9, Stopped{FailureKind::kInterrupted, "interrupted by SIGINT"}},
                         failing(abi::FailureKind::kAssert));
  EXPECT_EQ(run.summary.outcome, Outcome::kUnresolved);
  EXPECT_EQ(run.summary.failure->kind, FailureKind::kInterrupted);
  run.interrupted_by = SIGINT;
  EXPECT_EQ(exit_status_of(run), 128 + SIGINT);
}

TEST(OutcomeOf, FiguresComeFromTheEnd) {
  Reports reports;
  reports.end = EndReport{100, 9, 4, 3, 0xabc};
  const RunResult run = judged({exited(0), 50, {}}, reports);
  EXPECT_EQ(run.summary.clock, 100u);
  EXPECT_EQ(run.summary.switches, 9u);
  EXPECT_EQ(run.summary.preemptions, 4u);
  EXPECT_EQ(run.summary.threads, 3u);
  EXPECT_EQ(run.summary.hash, 0xabcu);
}

}  // namespace
}  // namespace clew
