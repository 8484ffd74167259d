#include "host/trace/step_word.h"

namespace clew {

const char* to_word(abi::StepKind kind) {
  switch (kind) {
    case abi::StepKind::kRead:
      return "read";
    case abi::StepKind::kWrite:
      return "write";
    case abi::StepKind::kUpdate:
      return "update";
    case abi::StepKind::kLock:
      return "lock";
    case abi::StepKind::kUnlock:
      return "unlock";
    case abi::StepKind::kWait:
      return "wait";
    case abi::StepKind::kSignal:
      return "signal";
    case abi::StepKind::kCreate:
      return "create";
    case abi::StepKind::kJoin:
      return "join";
    case abi::StepKind::kFree:
      return "free";
    case abi::StepKind::kDestroy:
      return "destroy";
    case abi::StepKind::kOther:
    case abi::StepKind::kCount:
      break;
  }
  return "";
}

}  // namespace clew
