#include "host/report/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "host/report/junit.h"
#include "host/report/words.h"

namespace clew {
namespace {

std::string runs_text(std::uint64_t count) {
  return fmt::format("{} run{}", with_commas(count), count == 1 ? "" : "s");
}

const char* status_text(CaseStatus status) {
  switch (status) {
    case CaseStatus::kFails:
      return "fails";
    case CaseStatus::kPasses:
      return "passes";
    case CaseStatus::kNotPossible:
      return "not possible any more";
    case CaseStatus::kOpen:
      return "open";
    case CaseStatus::kNotPlaced:
      return "cannot be placed";
    case CaseStatus::kNotRun:
      return "cannot be run";
  }
  return "";
}

std::string hunted_text(const CheckedCase& one) {
  std::string text;
  if (one.hunted > 0)
    text += fmt::format(" No failure in {} of a hunt around it.", runs_text(one.hunted));
  if (one.out_of_time) text += " The time was up before everything was tried (--time).";
  return text;
}

// A loop that gives up after some rounds, or some time, looks like one that waits as long as it takes.
std::string rounds_text(const CheckedCase& one) {
  return one.reason.rounds_not_tried ? " Threads that wait in a loop went round until others had "
                                       "got on: that one of them gives "
                                       "up before was not tried."
                                     : "";
}

std::string reason_text(const CheckedCase& one) {
  const NotPossible& reason = one.reason;
  using Why = NotPossible::Why;
  const auto at = [](const Location& place) {
    return place.file.empty() ? std::string("a place without source") : location_text(place);
  };
  const std::string runs =
      fmt::format("In all {} that have its events", runs_text(reason.schedules));
  const auto in_between = [&](const std::string& what) {
    return reason.one_reason
               ? fmt::format("{} they come in another order: {} in between.", runs, what)
               : fmt::format("{} they come in another order. In one of them {} in between.", runs,
                             what);
  };
  switch (reason.why) {
    case Why::kMutex:
      return fmt::format(
          "{} {}both threads hold the same lock there: one takes it at {}, the other at {}.", runs,
          reason.one_reason ? "" : "the order is ruled out. In one of them ", at(reason.at),
          at(reason.source));
    case Why::kMutexTogether:
      return fmt::format(
          "{} the orders rule each other out{}: threads hold the same lock around them, one takes "
          "it "
          "at {}, the other at {}.",
          runs, reason.one_reason ? "" : " or one of them cannot be. In one of them", at(reason.at),
          at(reason.source));
    case Why::kGuarded:
      return fmt::format(
          "In all {} that have the first and the last of its events in one thread, that thread and "
          "whoever comes to the event in between hold the same lock there: one takes it at {}, the "
          "other at {}.",
          runs_text(reason.schedules), at(reason.at), at(reason.source));
    case Why::kJoined:
      return in_between(fmt::format("the thread of one event is joined at {}", at(reason.at)));
    case Why::kCreated:
      return in_between(
          reason.at.file.empty()
              ? "the thread of one event is created"
              : fmt::format("the thread of one event is created at {}", at(reason.at)));
    case Why::kBarrier:
      return in_between(fmt::format("the barrier at {} is passed", at(reason.at)));
    case Why::kSameThread:
      return fmt::format("{} one thread executes them, in the other order.", runs);
    case Why::kSawFirst:
      return in_between(
          fmt::format("the read at {} sees the write at {}", at(reason.at), at(reason.source)));
    case Why::kWaitedFirst:
      return in_between(fmt::format("the wait at {} ends with the signal at {}", at(reason.at),
                                    at(reason.source)));
    case Why::kOverwritten:
      return fmt::format("{} what was to be seen is overwritten before, at {}.", runs,
                         at(reason.at));
    case Why::kNotTogether:
      return fmt::format(
          "In none of the {} that come to these statements do threads execute all of them, as the "
          "order asks, for the same data.",
          runs_text(reason.schedules));
    case Why::kOneStep:
      return fmt::format(
          "What the other thread was to come between is one atomic step now, at {}. No run has the "
          "order.",
          at(reason.at));
    case Why::kLockOrder:
      return fmt::format(
          "In all {} the order in which locks are taken has no cycle: no threads wait for each "
          "other's locks in a circle.",
          runs_text(reason.schedules));
    case Why::kNeverAfter: {
      const CaseOrder& order = one.one->orders[reason.order];
      const std::string second = phrase_of(one.one->events[order.events[1]]);
      return fmt::format(
          "No run has the order. In {} {} happens before a thread has come to {}, and that thread "
          "does not come to it any more; it comes in others.",
          runs_text(reason.schedules), phrase_of(one.one->events[order.events[0]]), second);
    }
    case Why::kGone:
      return fmt::format(
          "Nothing in the program is called `{}` any more, which the order is about, and no "
          "statement is like those of the order.",
          reason.variable);
    case Why::kExhausted:
      return fmt::format("Every schedule was executed, up to equivalence ({}): none has the order.",
                         runs_text(reason.schedules));
    case Why::kNone:
      break;
  }
  return "";
}

std::string failure_text(const CheckedCase& one) {
  std::string text;
  if (!one.other_order && one.one->orders.empty())
    text = "The program fails.";
  else if (!one.other_order)
    text = fmt::format(
        "The order of the case happens, and {} of {} with it {}{}.", with_commas(one.failed),
        runs_text(one.with_order), one.failed == 1 ? "fails" : "fail",
        one.lacks_last ? "; in the recorded one its last event does not come any more" : "");
  else if (std::ranges::any_of(one.placed,
                               [](const Placed& placed) { return placed.fit == Fit::kNone; }))
    text =
        "The program fails. Whether it does so in the order of the case cannot be told: not all of "
        "its "
        "statements were found.";
  else
    text = "The program fails in another order than that of the case.";
  if (one.failure) {
    text += fmt::format(" {}: {}", to_word(one.failure->kind), printable(one.failure->detail));
    if (one.failure->at) text += fmt::format(" at {}", location_text(*one.failure->at));
    text += ".";
  }
  if (one.other_failure)
    text += fmt::format(" The failure of the case is another one: {}.", to_word(one.one->failure));
  return text;
}

// What the first sentences of a result are.
std::string explanation(const CheckedCase& one) {
  switch (one.status) {
    case CaseStatus::kFails:
      return failure_text(one);
    case CaseStatus::kPasses:
      return fmt::format("{} {}, all of which pass.{}",
                         one.one->orders.empty() ? "The case has no order. There were"
                                                 : "The order of the case happens in",
                         runs_text(one.with_order), hunted_text(one));
    case CaseStatus::kNotPossible:
      return reason_text(one) + rounds_text(one) + hunted_text(one);
    case CaseStatus::kOpen:
      if (one.with_order > 0)
        return fmt::format(
            "The order of the case happens in {}, all of which pass. When the case was made, {} of "
            "{} "
            "with it failed: to tell, {} would be needed.{}",
            runs_text(one.with_order), with_commas(one.one->failed), runs_text(one.one->with_order),
            with_commas(one.wanted), hunted_text(one));
      return fmt::format(
          "No run has the order of the case, and nothing shows that it cannot happen.{}",
          hunted_text(one));
    case CaseStatus::kNotPlaced:
      return fmt::format("{}{}",
                         one.not_built
                             ? "The program was not built with clew: no accesses to memory are "
                               "known of it (rebuild it with clew c++)."
                             : "The code has changed too much.",
                         hunted_text(one));
    case CaseStatus::kNotRun:
      return one.error ? one.error->message : "";
  }
  return "";
}

const char* fit_word(Fit fit) {
  switch (fit) {
    case Fit::kExact:
      return "exact";
    case Fit::kRenamed:
      return "renamed";
    case Fit::kMoved:
      return "moved";
    case Fit::kNearest:
      return "nearest";
    case Fit::kNone:
      return "none";
  }
  return "";
}

// What a person must know of where the events are now.
std::string placing_text(const CheckedCase& one) {
  std::string text;
  std::set<std::string> told;  // threads may execute the same code
  for (std::size_t i = 0; i < one.placed.size(); ++i) {
    const Placed& placed = one.placed[i];
    const std::string wanted = phrase_of(one.one->events[i].at);
    const std::string found = placed.text.empty() ? location_text(placed.at)
                                                  : fmt::format("{}: {}", location_text(placed.at),
                                                                printable(placed.text));
    if (!told.insert(wanted + "\n" + found).second) continue;
    if (placed.fit == Fit::kNone)
      text += wrapped(fmt::format("looked for: {}", printable(wanted)), "  ") +
              (placed.at.file.empty() ? "" : wrapped(fmt::format("nearest: {}", found), "  "));
    else if (one.reason.why == NotPossible::Why::kGone)
      text += wrapped(fmt::format("looked for: {}", printable(wanted)), "  ");
    else if (placed.fit == Fit::kNearest)
      text += wrapped(
          fmt::format("taken for {} is the nearest match, {}", printable(wanted), found), "  ");
    else if (placed.fit == Fit::kMoved)
      text += wrapped(fmt::format("{} has moved: {}", printable(wanted), found), "  ");
  }
  return text;
}

}  // namespace

std::string headline(const CheckResult& result) {
  const auto count = [&](CaseStatus status) {
    return static_cast<std::uint64_t>(
        std::ranges::count(result.cases, status, &CheckedCase::status));
  };
  std::string text;
  for (const CaseStatus status : {CaseStatus::kFails, CaseStatus::kPasses, CaseStatus::kNotPossible,
                                  CaseStatus::kOpen, CaseStatus::kNotPlaced, CaseStatus::kNotRun})
    if (const std::uint64_t number = count(status); number > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, status_text(status));
  return fmt::format("{}: {}", counted(result.cases.size(), "case"), text.empty() ? "none" : text);
}

std::string checked_text(const CheckedCase& one) {
  std::string text = fmt::format("{}: {}\n", printable(one.file), status_text(one.status));
  if (one.one)
    for (const CaseOrder& order : one.one->orders)
      text += wrapped(fmt::format("order: {}", printable(sentence_of(*one.one, order))), "  ");
  text += placing_text(one);
  text += wrapped(explanation(one), "  ");
  if (one.error && !one.error->hint.empty()) text += wrapped("hint: " + one.error->hint, "  ");
  for (const std::string& note : one.notes) text += wrapped("note: " + printable(note), "  ");
  if (one.runs > 0) text += fmt::format("  {}, {:.1f} s\n", runs_text(one.runs), one.seconds);
  if (one.recording) text += fmt::format("  replay it: clew replay {}\n", *one.recording);
  return text;
}

Json check_json(const CheckResult& result) {
  Json cases = Json::array();
  for (const CheckedCase& one : result.cases) {
    Json placed = Json::array();
    for (std::size_t i = 0; i < one.placed.size(); ++i)
      placed.push_back({{"event", one.one->events[i].name},
                        {"looked_for", phrase_of(one.one->events[i].at)},
                        {"fit", fit_word(one.placed[i].fit)},
                        {"at", location_json(one.placed[i].at)},
                        {"text", one.placed[i].text}});
    Json orders = Json::array();
    if (one.one)
      for (const CaseOrder& order : one.one->orders) orders.push_back(sentence_of(*one.one, order));
    cases.push_back({{"file", one.file},
                     {"status", to_word(one.status)},
                     {"text", explanation(one)},
                     {"orders", orders},
                     {"events", placed},
                     {"recording", or_null(one.recording)},
                     {"failure", one.failure ? failure_json(*one.failure) : Json(nullptr)},
                     {"other_order", one.other_order},
                     {"other_failure", one.other_failure},
                     {"runs", one.runs},
                     {"with_order", one.with_order},
                     {"failed", one.failed},
                     {"hunted", one.hunted},
                     {"lacks_last", one.lacks_last},
                     {"out_of_time", one.out_of_time},
                     {"built_with_clew", !one.not_built},
                     {"seconds", one.seconds},
                     {"notes", one.notes}});
  }
  return {{"cases", cases}, {"exit_status", exit_status_of(result)}};
}

std::string check_junit(const CheckResult& result) {
  JUnitSuite suite{"clew check", {}};
  for (const CheckedCase& one : result.cases) {
    JUnitCase test;
    test.name = one.file;
    test.group = "clew.check";
    test.seconds = one.seconds;
    test.schedules = one.runs;
    const bool good = one.status == CaseStatus::kPasses || one.status == CaseStatus::kNotPossible;
    test.status = good                               ? JUnitCase::Status::kPassed
                  : one.status == CaseStatus::kFails ? JUnitCase::Status::kFailed
                                                     : JUnitCase::Status::kError;
    test.kind = to_word(one.status);
    test.message = explanation(one);
    test.text = checked_text(one);
    if (good) test.note = explanation(one);
    suite.cases.push_back(std::move(test));
  }
  return junit_xml(suite);
}

namespace {

const char* proof_word(MadeCase::Proof proof) {
  switch (proof) {
    case MadeCase::Proof::kSuffices:
      return "suffices";
    case MadeCase::Proof::kSometimes:
      return "sometimes";
    case MadeCase::Proof::kAlways:
      return "always";
    case MadeCase::Proof::kPasses:
      return "passes";
    case MadeCase::Proof::kNotSeen:
      return "not-seen";
  }
  return "";
}

std::string proof_text(const MadeCase& made) {
  switch (made.proof) {
    case MadeCase::Proof::kSuffices:
      return fmt::format("All {} that had {} failed.", runs_text(made.with_order),
                         made.made.orders.size() == 1 ? "this order" : "these orders");
    case MadeCase::Proof::kSometimes:
      return fmt::format(
          "No set of orders was found after which every run fails: of {} that had this one, {} "
          "failed.",
          runs_text(made.with_order), with_commas(made.failed));
    case MadeCase::Proof::kAlways:
      return fmt::format("There is no order to keep: all {} that were made failed.",
                         runs_text(made.with_order));
    case MadeCase::Proof::kPasses:
      return fmt::format("All {} that had the order passed: the case says so.",
                         runs_text(made.with_order));
    case MadeCase::Proof::kNotSeen:
      if (made.recording == 0)
        return fmt::format("No run of {} had the order.", with_commas(made.runs));
      return fmt::format(
          "No order of events of different threads was found after which runs fail, in {}.{}",
          runs_text(made.runs),
          made.has_handler ? " The failing run sends a signal that has a handler: what a handler "
                             "does to the thread that it interrupts cannot be kept as a case."
                           : "");
  }
  return "";
}

}  // namespace

std::string headline(const MadeCase& made, const std::string& file) {
  return fmt::format("case: {}, {}", counted(made.made.orders.size(), "order"), file);
}

std::string made_text(const MadeCase& made, const std::string& file) {
  std::string text;
  for (const CaseOrder& order : made.made.orders)
    text += wrapped(printable(sentence_of(made.made, order)), "  ");
  text += wrapped(
      proof_text(made) +
          (made.out_of_time ? " The time was up before everything was tried (--time)." : ""),
      "  ");
  for (const std::string& note : made.notes) text += wrapped("note: " + printable(note), "  ");
  text += fmt::format("  {}, {:.1f} s\n", runs_text(made.runs), made.seconds);
  if (made.proof != MadeCase::Proof::kNotSeen)
    text += fmt::format("  check it: clew check {}\n", file);
  return text;
}

Json made_json(const MadeCase& made, const std::string& file) {
  Json orders = Json::array();
  for (const CaseOrder& order : made.made.orders) orders.push_back(sentence_of(made.made, order));
  return {{"file", file},
          {"recording", made.recording == 0 ? Json(nullptr) : Json(made.recording)},
          {"orders", orders},
          {"proof", proof_word(made.proof)},
          {"with_order", made.with_order},
          {"failed", made.failed},
          {"runs", made.runs},
          {"candidates", made.candidates},
          {"out_of_time", made.out_of_time},
          {"seconds", made.seconds},
          {"notes", made.notes}};
}

}  // namespace clew
