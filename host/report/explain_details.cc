#include "host/report/explain_details.h"

#include <fmt/format.h>

#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

const char* pattern_word(CausePattern pattern) {
  switch (pattern) {
    case CausePattern::kTooEarly:
      return "too-early";
    case CausePattern::kOverwritten:
      return "overwritten";
    case CausePattern::kBetween:
      return "between";
    case CausePattern::kUseAfterFree:
      return "use-after-free";
    case CausePattern::kResult:
      return "result";
    case CausePattern::kWaitsForever:
      return "waits-forever";
    case CausePattern::kOutcome:
      return "outcome";
    case CausePattern::kRace:
      return "race";
    case CausePattern::kLockOrder:
      return "lock-order";
    case CausePattern::kReported:
      return "reported";
    case CausePattern::kNone:
      break;
  }
  return "none";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json at_or_null(const Location& at) { return at.line == 0 ? Json(nullptr) : location_json(at); }

Json event_json(const CauseEvent& event) {
  Json locks = Json::array();
  for (const HeldLock& lock : event.locks) locks.push_back(text_or_null(lock.name));
  return {{"what", to_word(event.what)},
          {"thread", text_or_null(event.thread)},
          {"at", at_or_null(event.at)},
          {"called_at", at_or_null(event.called_at)},
          {"call", text_or_null(event.call)},
          {"value", text_or_null(event.value)},
          {"locks", locks},
          {"clock", event.clock}};
}

Json event_json(const std::optional<CauseEvent>& event) {
  return event ? event_json(*event) : Json(nullptr);
}

Json wait_json(const WaitFact& fact) {
  return {{"wait", event_json(fact.wait)},       {"object", text_or_null(fact.object)},
          {"holder", text_or_null(fact.holder)}, {"taken", event_json(fact.taken)},
          {"signal", event_json(fact.signal)},   {"signal_before", fact.signal && fact.before},
          {"renewed", event_json(fact.renewed)}, {"woken", event_json(fact.woken)},
          {"returns_in_passing", fact.returns}};
}

const char* tested_word(CallOutcome::Tested tested) {
  switch (tested) {
    case CallOutcome::Tested::kWithout:
      return "without";
    case CallOutcome::Tested::kRelease:
      return "release";
    case CallOutcome::Tested::kOrder:
      return "order";
    case CallOutcome::Tested::kNot:
      break;
  }
  return "not tested";
}

Json outcome_json(const CallOutcome& outcome) {
  return {{"kind", to_word(outcome.kind)},
          {"object", text_or_null(outcome.object)},
          {"by_chance", outcome.by_chance},
          {"holder", event_json(outcome.holder)},
          {"looked", event_json(outcome.looked)},
          {"looked_at", text_or_null(outcome.looked_at)},
          {"signal", event_json(outcome.signal)},
          {"change", event_json(outcome.change)},
          {"tested", tested_word(outcome.tested)},
          {"in_passing", outcome.in_passing == CallOutcome::There::kSame    ? Json("same")
                         : outcome.in_passing == CallOutcome::There::kOther ? Json("other")
                                                                            : Json(nullptr)}};
}

// What was run to see that it decides.
std::string tested_text(const Cause& cause) {
  const CallOutcome& outcome = *cause.outcome;
  switch (outcome.tested) {
    case CallOutcome::Tested::kWithout:
      return "Tested: the same schedule with the usual answer there passes.";
    case CallOutcome::Tested::kRelease:
      return fmt::format(
          "Tested: the same schedule, changed so that {} releases the lock before that, passes.",
          outcome.holder->thread);
    case CallOutcome::Tested::kOrder:
      return fmt::format(
          "Tested: the same schedule, changed so that {} comes first, passes.",
          outcome.kind == OutcomeKind::kStale ? cause.use.thread + "'s return" : "the attempt");
    case CallOutcome::Tested::kNot:
      break;
  }
  return "";
}

std::string named(const std::string& variable) {
  return variable.empty() ? "memory" : fmt::format("`{}`", printable(variable));
}

}  // namespace

std::string cause_line(const Location& at) {
  if (at.line == 0) return "a place that is not known";
  return fmt::format("{}:{}", printable(at.file.substr(at.file.rfind('/') + 1)), at.line);
}

std::string shared_line(const CauseEvent& event) {
  if (event.called_at.line == 0 ||
      (event.called_at.line == event.at.line && event.called_at.file == event.at.file))
    return cause_line(event.at);
  return fmt::format("{} (in the call at {})", cause_line(event.at), cause_line(event.called_at));
}

std::string check_text(const Cause& cause) {
  if (!cause.check) return "";
  const Check& check = *cause.check;
  const bool updated = check.read.what == CauseEvent::What::kUpdates;
  std::string_view tested = ".";
  if (check.tested)
    tested = updated ? ": if that comes first, the failing run passes."
                     : ": with that value put in where it reads, the failing run passes.";
  // Memory without a name is told by where it is read alone.
  const std::string what =
      check.variable.empty() ? "what" : fmt::format("`{}`, which", printable(check.variable));
  return wrapped(
      fmt::format("{} goes by {} it has {} at {}; {} has {} {}since, at {}{}", check.read.thread,
                  what, updated ? "updated" : "read", shared_line(check.read), check.write.thread,
                  check.write.what == CauseEvent::What::kUpdates ? "updated" : "written",
                  check.variable.empty() ? "there " : "it ", shared_line(check.write), tested),
      "  ");
}

std::string cause_details(const Cause& cause) {
  std::string text;
  const auto say = [&](const std::string& sentence) { text += wrapped(sentence, "  "); };
  if (cause.outcome) {
    const CallOutcome& outcome = *cause.outcome;
    if (outcome.tested != CallOutcome::Tested::kNot) say(tested_text(cause));
    if (outcome.looked)
      say(fmt::format("It had decided to wait by {}, at {}.", named(outcome.looked_at),
                      shared_line(*outcome.looked)));
    if (outcome.signal)
      say(fmt::format("{} has ended the wait at {}.", outcome.signal->thread,
                      shared_line(*outcome.signal)));
  }
  // Of what comes too early, or is seen in part, the first sentence says it.
  if (cause.let_go && cause.pattern != CausePattern::kTooEarly && !cause.beside) {
    const std::string& early = cause.failing_source->thread;
    say(cause.created ? fmt::format("{} has created {} at {}, before that.", cause.let_go->thread,
                                    early, shared_line(*cause.let_go))
                      : fmt::format("{} has let {} come there at {}, before that.",
                                    cause.let_go->thread, early, shared_line(*cause.let_go)));
  }
  if (cause.remote_too && cause.variable == cause.later_variable) {
    say(fmt::format("{} {} the other part as well, at {}: so the two steps are not one for it.",
                    cause.remote_too->thread, to_word(cause.remote_too->what),
                    shared_line(*cause.remote_too)));
  } else if (cause.remote_too) {
    const std::string what =
        named(cause.remote_meets_later ? cause.variable : cause.later_variable);
    // Which of the two came first does not matter: both lie on the wrong side.
    say(fmt::format("{} {} {} as well, at {}: so the two steps are not one for it.",
                    cause.remote_too->thread, to_word(cause.remote_too->what), what,
                    shared_line(*cause.remote_too)));
  }
  if (cause.reopened)
    say(fmt::format("The number stands for something else by then, since `{}` of {} at {}.",
                    printable(cause.reopened->call), cause.reopened->thread,
                    shared_line(*cause.reopened)));
  if (cause.slept)
    say(fmt::format("Before it, {} only sleeps, at {}: that orders nothing.", cause.slept->thread,
                    shared_line(*cause.slept)));
  if (cause.got && cause.got->at.line != 0)
    say(fmt::format("{} has got its {} at {}.", cause.got->thread,
                    cause.descriptor ? "number" : "address", shared_line(*cause.got)));
  if (cause.reused) say("The memory has been allocated again since, for something else.");
  return text;
}

Json cause_json(const Cause& cause) {
  Json waits = Json::array();
  for (const WaitFact& fact : cause.waits) waits.push_back(wait_json(fact));
  Json check = nullptr;
  if (cause.check)
    check = {{"variable", text_or_null(cause.check->variable)},
             {"read", event_json(cause.check->read)},
             {"write", event_json(cause.check->write)},
             {"tested", cause.check->tested}};
  return {{"kind", to_word(cause.kind)},
          {"pattern", pattern_word(cause.pattern)},
          {"reported", text_or_null(cause.reported)},
          {"variable", text_or_null(cause.variable)},
          {"use", cause.use.thread.empty() ? Json(nullptr) : event_json(cause.use)},
          {"passing_value", text_or_null(cause.passing_value)},
          {"failing_source", event_json(cause.failing_source)},
          {"passing_source", event_json(cause.passing_source)},
          {"earlier", event_json(cause.earlier)},
          {"remote", event_json(cause.remote)},
          {"later", event_json(cause.later)},
          {"later_variable", text_or_null(cause.later_variable)},
          {"remote_too", event_json(cause.remote_too)},
          {"tested_outside", cause.tested_outside},
          {"descriptor", cause.descriptor ? Json(*cause.descriptor) : Json(nullptr)},
          {"other_end", cause.other_end},
          {"reopened", event_json(cause.reopened)},
          {"cleared", cause.cleared},
          {"ending", cause.ending},
          {"omitted", cause.omitted},
          {"released", event_json(cause.released)},
          {"allocated", event_json(cause.allocated)},
          {"got", event_json(cause.got)},
          {"reused", cause.reused},
          {"freed", event_json(cause.freed)},
          {"timed_out", event_json(cause.timed_out)},
          {"let_go", event_json(cause.let_go)},
          {"created", cause.created},
          {"slept", event_json(cause.slept)},
          {"beside", event_json(cause.beside)},
          {"beside_variable", text_or_null(cause.beside_variable)},
          {"beside_read", event_json(cause.beside_read)},
          {"beside_missed", cause.beside_missed},
          {"outcome", cause.outcome ? outcome_json(*cause.outcome) : Json(nullptr)},
          {"check", check},
          {"waits", waits},
          {"cycle", cause.cycle}};
}

}  // namespace clew
