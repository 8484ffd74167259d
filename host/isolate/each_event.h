// All events that the result of an isolation tells of.
#ifndef CLEW_HOST_ISOLATE_EACH_EVENT_H_
#define CLEW_HOST_ISOLATE_EACH_EVENT_H_

#include <cstdint>
#include <optional>

#include "host/isolate/isolate_result.h"

namespace clew {

// Its object is a lock, a condition variable or the like.
constexpr bool is_synchronisation(abi::StepKind kind) {
  return kind == abi::StepKind::kLock || kind == abi::StepKind::kUnlock ||
         kind == abi::StepKind::kWait || kind == abi::StepKind::kSignal;
}

enum class EventSide : std::uint8_t { kFailing, kPassing };  // the run that it is an event of

// visit(event, side), for a result that may be const.
template <class Result, class Visit>
void for_each_event(Result& result, Visit&& visit) {
  const auto event = [&](auto& one, EventSide side) {
    if (one) visit(*one, side);
  };
  const auto standpoint = [&](auto& one, EventSide side) {
    if (one && one->step) visit(*one->step, side);
  };
  for (auto& one : result.switches) {
    event(one.fail_from.step, EventSide::kFailing);
    standpoint(one.fail_next, EventSide::kFailing);
    standpoint(one.pass_from, EventSide::kPassing);
    standpoint(one.pass_next, EventSide::kPassing);
  }
  for (auto& one : result.preemptions) {
    event(one.from.step, EventSide::kFailing);
    standpoint(one.next, EventSide::kFailing);
    if (!one.window) continue;
    for (auto* of_window : {&one.window->after, &one.window->first, &one.window->last,
                            &one.window->others_first, &one.window->others_last})
      event(*of_window, EventSide::kFailing);
  }
  for (auto& one : result.choices) event(one.from.step, EventSide::kFailing);
  if (result.pair) {
    visit(result.pair->first, EventSide::kFailing);
    visit(result.pair->second, EventSide::kFailing);
    for (auto* of_pair : {&result.pair->earlier, &result.pair->later, &result.pair->guarded_first,
                          &result.pair->guarded_second})
      event(*of_pair, EventSide::kFailing);
  }
  for (auto& wait : result.waits) event(wait.signal, EventSide::kFailing);
  for (auto& line : result.failing_course) visit(line.event, EventSide::kFailing);
  for (auto& line : result.passing_course) visit(line.event, EventSide::kPassing);
}

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_EACH_EVENT_H_
