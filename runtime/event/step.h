// What a thread is about to do: an access, or a call that synchronises.
#ifndef CLEW_RUNTIME_EVENT_STEP_H_
#define CLEW_RUNTIME_EVENT_STEP_H_

#include "clew_abi/job.h"
#include "clew_abi/point.h"
#include "clew_abi/step.h"
#include "runtime/rt.h"

namespace clew::rt {

struct Step {
  std::uintptr_t object = 0;  // address accessed, or synchronisation object; 0: none
  abi::Place place = 0;
  std::uint32_t size = 0;  // of the access; 0: not known
  abi::StepKind kind = abi::StepKind::kOther;
  // Of an access that compiled code makes: its kind and memory order. Otherwise kSyncCall.
  abi::PointKind point = abi::PointKind::kSyncCall;
  abi::MemoryOrder order = abi::MemoryOrder::kNotKnown;
};

// Whether the order of two steps of different threads can matter.
inline bool conflict(const Step& a, const Step& b) {
  if (a.object == 0 || b.object == 0) return false;
  if (a.kind == abi::StepKind::kRead && b.kind == abi::StepKind::kRead) return false;
  return a.object < b.object + (b.size > 0 ? b.size : 1) &&
         b.object < a.object + (a.size > 0 ? a.size : 1);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_STEP_H_
