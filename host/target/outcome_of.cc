#include "host/target/outcome_of.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <utility>

#include "clew_abi/notes.h"
#include "host/target/syscall_names.h"

namespace clew {

namespace {

Outcome outcome_of(abi::FailureKind kind) {
  switch (kind) {
    case abi::FailureKind::kHang:
      return Outcome::kHang;
    case abi::FailureKind::kUnsupported:
    case abi::FailureKind::kInfeasible:
      return Outcome::kUnresolved;
    default:
      return Outcome::kFail;
  }
}

Failure failure_of(const FailureReport& report, const Reports& reports) {
  Failure failure{from_abi(report.kind), report.detail, thread_name(reports, report.thread), {}};
  if (!report.file.empty()) failure.at = Location{report.file, report.line, report.function};
  return failure;
}

void judge_status(int wait_status, RunSummary& summary) {
  if (WIFSIGNALED(wait_status)) {
    summary.outcome = Outcome::kFail;
    summary.failure = Failure{FailureKind::kSignal, signal_name(WTERMSIG(wait_status)), "", {}};
  } else if (WEXITSTATUS(wait_status) != 0) {
    summary.outcome = Outcome::kFail;
    summary.failure = Failure{
        FailureKind::kExit, fmt::format("exited with status {}", WEXITSTATUS(wait_status)), "", {}};
  } else {
    summary.outcome = Outcome::kPass;
  }
}

}  // namespace

std::string thread_name(const Reports& reports, ThreadIndex thread) {
  if (thread < reports.threads.size() && !reports.threads[thread].id.empty())
    return reports.threads[thread].id;
  return fmt::format("thread {}", thread);
}

std::string RunResult::thread_id(ThreadIndex thread) const { return thread_name(reports, thread); }

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

RunSummary summarize(const EndFacts& facts, const Reports& reports) {
  RunSummary summary;
  summary.exit_status = shell_status(facts.wait_status);
  summary.clock = facts.live_clock;
  summary.threads = reports.threads.size();
  if (reports.end) {
    summary.clock = reports.end->clock;
    summary.switches = reports.end->switches;
    summary.preemptions = reports.end->preemptions;
    summary.threads = reports.end->threads;
    summary.hash = reports.end->hash;
  }
  for (const std::string& note : reports.notes) summary.notes.push_back(note_from_text(note));
  if (reports.becomes)
    summary.notes.push_back({Note::Kind::kBecame, abi::kNoteBecame + *reports.becomes});

  if (facts.stopped) {
    summary.outcome =
        facts.stopped->kind == FailureKind::kHang ? Outcome::kHang : Outcome::kUnresolved;
    summary.failure = Failure{facts.stopped->kind, facts.stopped->detail, "", {}};
  } else if (reports.departure) {
    summary.outcome = Outcome::kUnresolved;
    summary.failure = Failure{FailureKind::kDeparture,
                              reports.departure->what,
                              thread_name(reports, reports.departure->actual_thread),
                              {}};
  } else if (reports.failure) {
    summary.outcome = outcome_of(reports.failure->kind);
    summary.failure = failure_of(*reports.failure, reports);
  } else {
    judge_status(facts.wait_status, summary);
  }
  return summary;
}

}  // namespace clew
