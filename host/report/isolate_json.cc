#include "host/report/isolate_json.h"

#include <fmt/format.h>

#include "host/report/object_words.h"
#include "host/report/words.h"

namespace clew {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json event_json(const EventInfo& event) {
  return {{"clock", event.clock == 0 ? Json(nullptr) : Json(event.clock)},
          {"thread", event.thread},
          {"at", location_json(event.at)},
          {"what", clew::to_word(event.kind)},
          {"object", event.object == 0 ? Json(nullptr) : Json(fmt::format("{:#x}", event.object))},
          {"variable",
           text_or_null(event.name.known() ? short_object_words(event.name) : event.variable)},
          {"name", event.name.known() ? Json(object_words(event.name, "")) : Json(nullptr)},
          {"blocked", event.lock == LockStep::kBlocked},
          {"time", event.time == 0 ? Json(nullptr) : Json(event.time)}};
}

Json event_json(const std::optional<EventInfo>& event) {
  return event ? event_json(*event) : Json(nullptr);
}

Json standpoint_json(const Standpoint& standpoint) {
  return {{"thread", text_or_null(standpoint.thread)},
          {"name", text_or_null(standpoint.name)},
          {"at", location_json(standpoint.at)},
          {"step", event_json(standpoint.step)},
          {"stack", stack_json(standpoint.stack)}};
}

Json standpoint_json(const std::optional<Standpoint>& standpoint) {
  return standpoint ? standpoint_json(*standpoint) : Json(nullptr);
}

std::string thread_of(const std::optional<Standpoint>& standpoint, const std::string& otherwise) {
  return standpoint && !standpoint->thread.empty() ? standpoint->thread : otherwise;
}

const char* to_word(IsolatedSwitch::Kind kind) {
  switch (kind) {
    case IsolatedSwitch::Kind::kMove:
      return "move";
    case IsolatedSwitch::Kind::kTarget:
      return "target";
    case IsolatedSwitch::Kind::kChoice:
      break;
  }
  return "choice";
}

const char* to_word(Isolated how_far) {
  switch (how_far) {
    case Isolated::kDone:
      return "isolated";
    case Isolated::kNarrowed:
      return "narrowed";
    case Isolated::kAlwaysFails:
      return "always-fails";
    case Isolated::kNothing:
      break;
  }
  return "nothing";
}

Json switch_json(const IsolatedSwitch& one) {
  const bool in_failing = one.in_failing && !one.fail_from.thread.empty();
  return {{"index", one.index},
          {"kind", to_word(one.kind)},
          {"changes", one.changes},
          {"choice", one.choice ? Json(choice_word(*one.choice)) : Json(nullptr)},
          {"in_failing", in_failing},
          {"fail_clock", one.fail_clock},
          {"pass_clock", or_null(one.pass_clock)},
          {"from", text_or_null(one.fail_from.thread)},
          {"to", text_or_null(thread_of(one.fail_next, one.fail_to))},
          {"pass_to", text_or_null(thread_of(one.pass_next, one.pass_to))},
          {"fail_at", location_json(one.fail_from.at)},
          {"pass_at", one.pass_from ? location_json(one.pass_from->at) : Json(nullptr)},
          {"fail",
           {{"from", one.fail_from.thread.empty() ? Json(nullptr) : standpoint_json(one.fail_from)},
            {"next", standpoint_json(one.fail_next)}}},
          {"pass",
           {{"from", standpoint_json(one.pass_from)}, {"next", standpoint_json(one.pass_next)}}}};
}

Json window_json(const std::optional<SwitchWindow>& window) {
  if (!window) return nullptr;
  return {{"after", event_json(window->after)},
          {"first", event_json(window->first)},
          {"last", event_json(window->last)},
          {"caller_first", location_json(window->caller_first)},
          {"caller_last", location_json(window->caller_last)},
          {"places", window->places},
          {"gapless", window->gapless},
          {"ends_before", window->ends_before},
          {"ends_after", window->ends_after},
          {"others", window->others},
          {"others_failing", window->others_failing},
          {"others_first", event_json(window->others_first)},
          {"others_last", event_json(window->others_last)},
          {"whole_course", window->whole_course}};
}

Json preemption_json(const PreemptionInfo& one) {
  return {{"thread", text_or_null(one.from.thread)},
          {"to", text_or_null(thread_of(one.next, one.to))},
          {"clock", one.clock},
          {"at", location_json(one.from.at)},
          {"window", window_json(one.window)},
          {"from", standpoint_json(one.from)},
          {"next", standpoint_json(one.next)}};
}

const char* to_word(CriticalPair::Swapped swapped) {
  switch (swapped) {
    case CriticalPair::Swapped::kPasses:
      return "passes";
    case CriticalPair::Swapped::kFails:
      return "fails";
    case CriticalPair::Swapped::kOther:
      return "other";
    case CriticalPair::Swapped::kNotTried:
      break;
  }
  return "not-tried";
}

Json tally_json(const CriticalPair::Tally& tally) {
  return {{"failed", tally.failed}, {"passed", tally.passed}};
}

Json pair_json(const std::optional<CriticalPair>& pair) {
  if (!pair) return nullptr;
  return {
      {"first", event_json(pair->first)},
      {"second", event_json(pair->second)},
      {"swapped", to_word(pair->swapped)},
      {"alone", pair->alone},
      {"earlier", event_json(pair->earlier)},
      {"later", event_json(pair->later)},
      {"this_order", tally_json(pair->this_order)},
      {"other_order", tally_json(pair->other_order)},
      {"guarded_first", pair->guarded_first ? event_json(*pair->guarded_first) : Json(nullptr)},
      {"guarded_second", pair->guarded_second ? event_json(*pair->guarded_second) : Json(nullptr)}};
}

Json course_json(const std::vector<CourseLine>& course) {
  Json list = Json::array();
  for (const CourseLine& line : course) {
    Json one = event_json(line.event);
    one["marked"] = line.marked;
    one["switched"] = line.switched;
    list.push_back(std::move(one));
  }
  return list;
}

Json signalled_word(WaitInfo::Signalled signalled) {
  switch (signalled) {
    case WaitInfo::Signalled::kNever:
      return "never";
    case WaitInfo::Signalled::kBefore:
      return "before";
    case WaitInfo::Signalled::kDuring:
      return "during";
    case WaitInfo::Signalled::kNotKnown:
      break;
  }
  return nullptr;
}

}  // namespace

Json isolate_json(const IsolateResult& result) {
  Json switches = Json::array();
  for (const IsolatedSwitch& one : result.switches) switches.push_back(switch_json(one));
  Json preemptions = Json::array();
  for (const PreemptionInfo& one : result.preemptions) preemptions.push_back(preemption_json(one));
  Json choices = Json::array();
  for (const ChoiceInfo& one : result.choices)
    choices.push_back({{"clock", one.choice.clock.value},
                       {"choice", choice_word(one.choice)},
                       {"from", standpoint_json(one.from)}});
  Json log = Json::array();
  for (const IsolateResult::Test& test : result.log)
    log.push_back({{"schedule", test.schedule}, {"outcome", to_word(test.verdict)}});
  Json waits = Json::array();
  for (const WaitInfo& wait : result.waits)
    waits.push_back({{"thread", wait.thread},
                     {"at", location_json(wait.at)},
                     {"for", object_text(wait.kind, wait.object, wait.variable, wait.ending)},
                     {"holder", wait.holder.empty() ? Json(nullptr) : Json(wait.holder)},
                     {"signalled", signalled_word(wait.signalled)},
                     {"signal", wait.signal ? event_json(*wait.signal) : Json(nullptr)},
                     {"woken", wait.woken.empty() ? Json(nullptr) : Json(wait.woken)}});
  return {{"outcome", to_word(how_far(result))},
          {"failure", failure_json(result.failure)},
          {"original", result.original},
          {"failing", or_null(result.failing)},
          {"passing", or_null(result.passing)},
          {"deltas", result.deltas ? decimal(*result.deltas) : ""},
          {"deltas_left", result.deltas_left ? decimal(*result.deltas_left) : ""},
          {"tests", result.tests},
          {"log", log},
          {"cost_runs", result.cost_runs},
          {"seconds", result.seconds},
          {"switches", switches},
          {"preemptions", preemptions},
          {"choices", choices},
          {"preemption_count", result.preemption_count},
          {"choice_count", result.choice_count},
          {"pair", pair_json(result.pair)},
          {"waits", waits},
          {"simplified", result.simplified},
          {"simplest", result.simplified ? Json(result.simplest) : Json(nullptr)},
          {"fewest", result.fewest},
          {"minimal", result.minimal},
          {"reaches", or_null(result.reaches)},
          {"complete", result.complete},
          {"always_fails", result.always_fails},
          {"original_preemptions", result.original_preemptions},
          {"failing_course", course_json(result.failing_course)},
          {"passing_course", course_json(result.passing_course)},
          {"doubts", result.doubts},
          {"interrupted", result.interrupted_by != 0 ? Json(result.interrupted_by) : Json(nullptr)},
          {"notes", result.notes}};
}

}  // namespace clew
