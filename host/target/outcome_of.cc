#include "host/target/outcome_of.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <utility>

#include "clew_abi/notes.h"
#include "host/target/syscall_names.h"

namespace clew {

const char* to_word(abi::FailureKind kind) {
  switch (kind) {
#define CLEW_KIND(name, text)  \
  case abi::FailureKind::name: \
    return text;
    CLEW_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
    case abi::FailureKind::kCount:
      break;
  }
  return "unknown";
}

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
  Failure failure{to_word(report.kind), report.detail, thread_name(reports, report.thread), {}};
  if (!report.file.empty()) failure.at = Location{report.file, report.line, report.function};
  return failure;
}

void judge_status(int wait_status, RunSummary& summary) {
  if (WIFSIGNALED(wait_status)) {
    summary.outcome = Outcome::kFail;
    summary.failure = Failure{"signal", signal_name(WTERMSIG(wait_status)), "", {}};
  } else if (WEXITSTATUS(wait_status) != 0) {
    summary.outcome = Outcome::kFail;
    summary.failure =
        Failure{"exit", fmt::format("exit status {}", WEXITSTATUS(wait_status)), "", {}};
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
  summary.notes = reports.notes;
  if (reports.becomes) summary.notes.push_back(abi::kNoteBecame + *reports.becomes);

  if (facts.stopped) {
    summary.outcome = facts.stopped->kind == "hang" ? Outcome::kHang : Outcome::kUnresolved;
    summary.failure = Failure{facts.stopped->kind, facts.stopped->detail, "", {}};
  } else if (reports.departure) {
    summary.outcome = Outcome::kUnresolved;
    summary.failure = Failure{"departure",
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
