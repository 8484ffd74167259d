#include "host/target/exit_status.h"

#include <csignal>

namespace clew {

int exit_status_of(const RunResult& result) {
  const RunSummary& summary = result.summary;
  if (result.interrupted_by != 0) return 128 + result.interrupted_by;
  if (result.reports.departure) return kExitDeparted;
  switch (summary.outcome) {
    case Outcome::kPass:
      return 0;
    case Outcome::kHang:
      return kExitHang;
    case Outcome::kUnresolved:
      return kExitUnresolved;
    case Outcome::kFail:
      break;
  }
  if (summary.failure && summary.failure->kind == FailureKind::kDeadlock) return kExitDeadlock;
  // What the runtime ended: the status of the process is not the program's.
  if (summary.failure) switch (summary.failure->kind) {
      case FailureKind::kMisuse:
      case FailureKind::kRace:
      case FailureKind::kLockOrder:
      case FailureKind::kMemory:
      case FailureKind::kListener:
        return 128 + SIGABRT;
      default:
        break;
    }
  if (summary.exit_status != 0) return summary.exit_status;
  return 128 + SIGABRT;  // a failure that the program itself did not notice
}

int exit_status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUsage:
      return kExitUsage;
    case ErrorCode::kBadInput:
    case ErrorCode::kSystem:
      return kExitBadInput;
    case ErrorCode::kInternal:
      break;
  }
  return kExitInternal;
}

}  // namespace clew
