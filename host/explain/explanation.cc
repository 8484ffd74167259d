#include "host/explain/explanation.h"

namespace clew {

const char* to_word(CauseKind kind) {
  switch (kind) {
    case CauseKind::kDataRace:
      return "data-race";
    case CauseKind::kAtomicityViolation:
      return "atomicity-violation";
    case CauseKind::kOrderViolation:
      return "order-violation";
    case CauseKind::kLostWakeup:
      return "lost-wakeup";
    case CauseKind::kDeadlock:
      return "deadlock";
    case CauseKind::kChoice:
      return "choice";
    case CauseKind::kUnknown:
      break;
  }
  return "unknown";
}

const char* to_word(CauseEvent::What what) {
  switch (what) {
    case CauseEvent::What::kReads:
      return "reads";
    case CauseEvent::What::kWrites:
      return "writes";
    case CauseEvent::What::kUpdates:
      return "updates";
    case CauseEvent::What::kFailsToUpdate:
      return "fails to update";
    case CauseEvent::What::kFrees:
      return "frees";
    case CauseEvent::What::kLeaves:
      return "leaves";
    case CauseEvent::What::kCloses:
      return "closes";
    case CauseEvent::What::kDestroys:
      return "destroys";
    case CauseEvent::What::kCalls:
      return "calls";
    case CauseEvent::What::kNothing:
      break;
  }
  return "start";
}

const char* to_word(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kTry:
      return "try";
    case OutcomeKind::kExchange:
      return "exchange";
    case OutcomeKind::kWakeUp:
      return "wake-up";
    case OutcomeKind::kTimeOut:
      return "time-out";
    case OutcomeKind::kStale:
      break;
  }
  return "stale wake-up";
}

const char* to_word(Confirmed confirmed) {
  switch (confirmed) {
    case Confirmed::kNotTested:
      break;
    case Confirmed::kNotTestable:
      return "not testable";
    case Confirmed::kByValue:
      return "value";
    case Confirmed::kByBranch:
      return "branch";
    case Confirmed::kByOrder:
      return "order";
    case Confirmed::kJointly:
      return "jointly";
    case Confirmed::kRefuted:
      return "refuted";
  }
  return "not tested";
}

const char* to_word(Link link) {
  switch (link) {
    case Link::kNotTested:
      break;
    case Link::kConfirmed:
      return "confirmed";
    case Link::kRefuted:
      return "refuted";
  }
  return "not tested";
}

}  // namespace clew
