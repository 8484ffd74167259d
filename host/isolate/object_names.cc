#include "host/isolate/object_names.h"

#include <string>
#include <utility>
#include <vector>

#include "host/isolate/each_event.h"
#include "host/observe/event_names.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// Something without a name.
struct Nameless {
  std::uint64_t clock = 0;  // 0: at the end
  const std::string* thread = nullptr;
  std::uint64_t object = 0;
  EventObject::Sort sort = EventObject::Sort::kMemory;
  std::string* variable = nullptr;
  ObjectName* name = nullptr;
};

void name_by(std::uint64_t recording, std::vector<Nameless>& objects) {
  if (objects.empty()) return;
  const auto replay = prepare_replay(std::to_string(recording));
  if (!replay) return;
  std::vector<EventObject> events;
  for (const Nameless& one : objects)
    events.push_back({one.clock, *one.thread, one.object, one.sort});
  name_events(*replay, events);
  std::size_t next = 0;
  std::erase_if(objects, [&](const Nameless& object) {
    ObjectName& name = events[next++].name;
    if (!name.known()) return false;
    *object.variable = source_text(name);
    *object.name = std::move(name);
    return true;
  });
}

// Memory that only a pointer of one thread names, a mapping for example, is called that for the other
// event of the pair as well, and wherever else the report tells of that event.
void name_as_the_other(IsolateResult& result) {
  if (!result.pair) return;
  EventInfo& first = result.pair->first;
  EventInfo& second = result.pair->second;
  const auto lends = [](const EventInfo& from, const EventInfo& to) {
    return from.object == to.object && from.object != 0 && !to.name.known() &&
           from.name.kind == ObjectName::Kind::kPointee;
  };
  if (lends(second, first)) {
    first.name = second.name;
    first.variable = second.variable;
  }
  if (!lends(first, second)) return;
  for_each_event(result, [&](EventInfo& event, EventSide) {
    if (&event == &second || !lends(first, event) || event.thread != second.thread ||
        event.kind != second.kind || event.at != second.at)
      return;
    event.name = first.name;
    event.variable = first.variable;
  });
  second.name = first.name;
  second.variable = first.variable;
}

}  // namespace

void name_objects(IsolateResult& result) {
  std::vector<Nameless> failing;
  std::vector<Nameless> passing;
  for_each_event(result, [&](EventInfo& event, EventSide side) {
    if (event.object == 0 || event.kind == abi::StepKind::kJoin ||
        event.kind == abi::StepKind::kCreate || event.name.known())
      return;
    (side == EventSide::kFailing ? failing : passing)
        .push_back(
            {event.clock, &event.thread, event.object,
             is_synchronisation(event.kind) ? EventObject::Sort::kSync : EventObject::Sort::kMemory,
             &event.variable, &event.name});
  });
  for (WaitInfo& wait : result.waits)
    if (wait.object != 0 && !wait.name.known())
      failing.push_back(
          {0, &wait.thread, wait.object, EventObject::Sort::kSync, &wait.variable, &wait.name});

  if (result.failing) name_by(*result.failing, failing);
  // What one run does not come to, the other may.
  passing.insert(passing.end(), failing.begin(), failing.end());
  if (result.passing) name_by(*result.passing, passing);
  name_as_the_other(result);
}

}  // namespace clew
