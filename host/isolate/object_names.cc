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
}

}  // namespace clew
