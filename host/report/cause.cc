#include "host/report/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/report/event_words.h"
#include "host/report/order_text.h"
#include "host/report/window_text.h"
#include "host/report/words.h"

namespace clew {
namespace {

// ---- Who runs where

// It is in the passing run only.
bool only_passing(const IsolatedSwitch& one) {
  return one.fail_from.thread.empty() ||
         (one.kind == IsolatedSwitch::Kind::kChoice && !one.in_failing);
}

std::string thread_or(const std::string& thread, std::string_view otherwise) {
  return thread.empty() ? std::string(otherwise) : printable(thread);
}

std::string preempted_text(const Standpoint& from, std::uint64_t clock) {
  const std::string ahead = ahead_text(from);
  if (ahead.empty())
    return fmt::format("{} is preempted at clock {}", label_of(from), with_commas(clock));
  return fmt::format("{} is preempted before {}{}", label_of(from), ahead,
                     from.step ? time_text(from.step->time) : "");
}

std::string next_text(const std::optional<Standpoint>& next, const std::string& to) {
  if (!next || next->thread.empty()) return thread_or(to, "the next thread");
  std::string text = label_of(*next);
  if (next->blocks) return text + ", which blocks at once";
  if (next->at) text += ", which runs from " + spot_text(next->at);
  return text;
}

std::string switch_text(const Standpoint& from, std::uint64_t clock,
                        const std::optional<Standpoint>& next, const std::string& to) {
  const bool again = from.step && !time_text(from.step->time).empty();
  return fmt::format("{}{} by {}", preempted_text(from, clock), again ? "," : "",
                     next_text(next, to));
}

// Of a switch that may have had no effect: then no other thread ran.
std::string maybe_switch_text(const Standpoint& from, std::uint64_t clock,
                              const std::optional<Standpoint>& next, const std::string& to) {
  if (next) return switch_text(from, clock, next, to);
  return fmt::format("{} runs on at clock {}", label_of(from), with_commas(clock));
}

// ---- Choices

// Who asks, where; the thread that is named.
constexpr std::string_view sentence(abi::ChoiceKind kind) {
  switch (kind) {
    case abi::ChoiceKind::kTimeout:
      return "a timed wait of {0} at {1} times out";
    case abi::ChoiceKind::kSpurious:
      return "a condition wait of {0} at {1} wakes up spuriously";
    case abi::ChoiceKind::kTrylock:
      return "a trylock of {0} at {1} fails though the lock is free";
    case abi::ChoiceKind::kCas:
      return "a weak compare-exchange of {0} at {1} fails though the values are equal";
    case abi::ChoiceKind::kPick:
      // It blocks, yields, or is about to end the program.
      return "{2} runs next where {0} stops running, at {1}";
    case abi::ChoiceKind::kWake:
      return "{0} wakes {2} at {1}";
    case abi::ChoiceKind::kCount:
      break;
  }
  return "a choice is made by {0} at {1}";
}

std::string choice_text(const Choice& choice, const Standpoint& from) {
  const std::string named = thread_or(choice.thread ? choice.thread->text() : "", "a thread");
  if (choice.kind == abi::ChoiceKind::kWake && from.step &&
      from.step->kind == abi::StepKind::kUnlock)
    return fmt::format("{} hands the lock to {} at {}", label_of(from), named, spot_text(from.at));
  // Who blocks or ends cannot be the next.
  if (choice.kind == abi::ChoiceKind::kPick && choice.thread &&
      choice.thread->text() == from.thread)
    return from.at ? fmt::format("{} continues where it yields, at {}", label_of(from),
                                 spot_text(from.at))
                   : fmt::format("{} continues where it yields", label_of(from));
  if (choice.kind == abi::ChoiceKind::kPick && !from.at)
    return fmt::format("{} runs next where {} stops running", named, label_of(from));
  return fmt::format(fmt::runtime(sentence(choice.kind)), label_of(from), spot_text(from.at),
                     named);
}

// ---- The passing run, seen from the failing one

std::string steps_text(std::uint64_t fail_clock, std::uint64_t pass_clock) {
  const std::uint64_t steps = std::max(fail_clock, pass_clock) - std::min(fail_clock, pass_clock);
  return fmt::format("{} {} {}", steps == 1 ? "one" : with_commas(steps),
                     steps == 1 ? "step" : "steps", pass_clock > fail_clock ? "later" : "earlier");
}

std::string moved_text(const IsolatedSwitch& difference) {
  if (!difference.pass_clock) return "Without this switch it passes.";
  const std::string steps = steps_text(difference.fail_clock, *difference.pass_clock);
  if (!difference.pass_from || !difference.pass_next)
    return fmt::format("If the switch comes {}, it passes.", steps);
  const Standpoint& from = *difference.pass_from;
  const bool same = from.thread == difference.fail_from.thread;
  // Who runs then, if not the same as in the failing run.
  const std::string to =
      difference.fail_next && difference.fail_next->thread != difference.pass_next->thread
          ? fmt::format(" by {}", label_of(*difference.pass_next))
          : "";
  // The one step is the event that the thread stood before.
  if (same && *difference.pass_clock == difference.fail_clock + 1 && difference.fail_from.step)
    return fmt::format("If {} is preempted one step later{}, when it {}, it passes.",
                       label_of(from), to, perfect_text(*difference.fail_from.step));
  const std::string ahead = ahead_text(from);
  const bool told = ahead.empty() || ahead == ahead_text(difference.fail_from);
  const std::string before =
      told ? "" : fmt::format(", before {}{}", ahead, from.step ? time_text(from.step->time) : "");
  if (same)
    return fmt::format("If {} is preempted {}{}{}, it passes.", label_of(from), steps, to, before);
  return fmt::format("If instead {} is preempted, {}{}{}, it passes.", label_of(from), steps, to,
                     before);
}

std::string target_text(const IsolatedSwitch& difference) {
  const bool known = difference.pass_next && !difference.pass_next->thread.empty();
  const std::string other =
      known ? label_of(*difference.pass_next) : thread_or(difference.pass_to, "another thread");
  return fmt::format("If {} runs there instead, it passes.", other);
}

// ---- The answer

// Each sentence is about the two runs that were made, not about all runs.
std::string one_cause(const IsolatedSwitch& difference) {
  const std::string failing = failing_side(difference);
  const std::string passing = passing_side(difference);
  if (failing.empty())
    return passing.empty() ? "The difference is in a part of the runs that could not be examined."
                           : fmt::format("In the passing run, {}. Without this it fails.", passing);
  std::string text = fmt::format("In the failing run, {}. ", failing);
  switch (difference.kind) {
    case IsolatedSwitch::Kind::kMove:
      return text + moved_text(difference);
    case IsolatedSwitch::Kind::kTarget:
      return text + target_text(difference);
    case IsolatedSwitch::Kind::kChoice:
      break;
  }
  return text + "Otherwise it passes.";
}

std::string several_causes(const IsolateResult& result) {
  std::string text = fmt::format(
      "The failing run differs from the passing one in {} ways, listed below: with all of them the "
      "program fails, with none of them it passes.",
      with_commas(result.switches.size()));
  if (result.minimal)
    text += " If any one of them is left out, this failure does not happen (checked by running).";
  return text;
}

// What else is unusual about the failing run: a time-out, a spurious wake-up, which waiter is woken.
// Who runs when a thread blocks is not: somebody has to.
std::string choices_text(const IsolateResult& result) {
  std::string text;
  for (const ChoiceInfo& one : result.choices) {
    const bool isolated = std::ranges::any_of(result.switches, [&](const IsolatedSwitch& other) {
      return other.choice && other.in_failing && other.choice->clock == one.choice.clock &&
             other.choice->kind == one.choice.kind;
    });
    if (isolated || one.choice.kind == abi::ChoiceKind::kPick) continue;
    text += fmt::format("{}{} (clock {})", text.empty() ? "In the failing run, also " : "; and ",
                        choice_text(one), with_commas(one.choice.clock.value));
  }
  return text.empty() ? "" : text + ".";
}

// The passing run may show nothing about what fails.
std::string reach_text(const IsolateResult& result) {
  if (result.reaches.value_or(true)) return "";
  return fmt::format(
      "The passing run does not come to where the failing one fails{}: it may hide the failure "
      "rather than avoid it. No run was found that comes there and passes.",
      result.failure.at ? " (" + spot_text(result.failure.at) + ")" : "");
}

}  // namespace

std::string label_of(const Standpoint& standpoint) {
  return thread_or(standpoint.thread, "a thread");
}

std::string failing_side(const IsolatedSwitch& difference) {
  if (only_passing(difference)) return "";
  if (difference.choice) return choice_text(*difference.choice, difference.fail_from);
  return maybe_switch_text(difference.fail_from, difference.fail_clock, difference.fail_next,
                           difference.fail_to);
}

std::string passing_side(const IsolatedSwitch& difference) {
  if (!difference.pass_clock || !difference.pass_from || difference.pass_from->thread.empty())
    return "";
  if (difference.choice)
    return only_passing(difference) ? choice_text(*difference.choice, *difference.pass_from) : "";
  const std::string passing = maybe_switch_text(*difference.pass_from, *difference.pass_clock,
                                                difference.pass_next, difference.pass_to);
  if (passing != failing_side(difference)) return passing;
  return fmt::format("the same {}", steps_text(difference.fail_clock, *difference.pass_clock));
}

std::string choice_text(const ChoiceInfo& choice) {
  return choice_text(choice.choice, choice.from);
}

std::string preemption_text(const PreemptionInfo& preemption) {
  return switch_text(preemption.from, preemption.clock, preemption.next, preemption.to);
}

std::string window_text(const PreemptionInfo& preemption) {
  return preemption.window ? window_text(*preemption.window, label_of(preemption.from)) : "";
}

// "T0.1 waits for mutex a, held by T0.2 since x.cc:12 (in g), at x.cc:17 (in f)"
std::string wait_text(const WaitInfo& wait) {
  std::string held;
  if (!wait.holder.empty())
    held = fmt::format(", held by {}{},", wait.holder,
                       wait.taken_at ? " since " + spot_text(wait.taken_at) : "");
  return fmt::format("{} waits {} {}{} at {}", wait.thread, waiting_word(wait.kind),
                     object_text(wait.kind, wait.object, wait.variable, wait.ending), held,
                     spot_text(wait.at));
}

// The threads that wait for each other in a circle; empty: there is none.
std::vector<const WaitInfo*> circle_of(const std::vector<WaitInfo>& waits) {
  const auto next = [&](const WaitInfo& wait) -> const WaitInfo* {
    const std::string& whom = wait.kind == abi::WaitKind::kJoin ? wait.ending : wait.holder;
    const auto found = std::ranges::find(waits, whom, &WaitInfo::thread);
    return whom.empty() || found == waits.end() ? nullptr : &*found;
  };
  for (const WaitInfo& start : waits) {
    std::vector<const WaitInfo*> path{&start};
    while (path.size() <= waits.size()) {
      const WaitInfo* one = next(*path.back());
      if (one == nullptr) break;
      if (one == &start) return path;
      path.push_back(one);
    }
  }
  return {};
}

// Why nobody wakes it.
std::string signal_text(const WaitInfo& wait) {
  using Signalled = WaitInfo::Signalled;
  if (wait.signalled == Signalled::kNotKnown) return "";
  std::string text = fmt::format(" What {} waits for was ", wait.thread);
  if (wait.signalled == Signalled::kNever || !wait.signal) return text + "never signalled.";
  text +=
      fmt::format("last signalled by {} at {}, ", wait.signal->thread, spot_text(wait.signal->at));
  if (wait.signalled == Signalled::kBefore)
    return text + fmt::format("before {} came to wait.", wait.thread);
  return text + fmt::format("while {} waited; that woke {}.", wait.thread,
                            wait.woken.empty() ? "another thread" : wait.woken);
}

// What a deadlock is: first who waits for each other, then who else waits.
std::string waits_text(const std::vector<WaitInfo>& waits) {
  const std::vector<const WaitInfo*> circle = circle_of(waits);
  std::string text = "At the end of the failing run, ";
  if (circle.size() > 1) text += fmt::format("{} threads wait for each other: ", circle.size());
  const auto add = [&](const WaitInfo& wait, std::string_view separator) {
    text += fmt::format("{}{}", separator, wait_text(wait));
  };
  for (std::size_t i = 0; i < circle.size(); ++i) add(*circle[i], i == 0 ? "" : "; ");
  bool first = true;
  for (const WaitInfo& wait : waits) {
    if (std::ranges::find(circle, &wait) != circle.end()) continue;
    add(wait, !first ? "; " : circle.empty() ? "" : ". Besides, ");
    first = false;
  }
  text += ".";
  for (const WaitInfo& wait : waits) text += signal_text(wait);
  return text;
}

std::vector<std::string> cause_paragraphs(const IsolateResult& result) {
  std::vector<std::string> paragraphs;
  // What a deadlock looks like is its symptom.
  if (!result.waits.empty()) paragraphs.push_back(waits_text(result.waits));
  if (result.switches.empty()) return paragraphs;
  paragraphs.push_back(result.switches.size() == 1 ? one_cause(result.switches.front())
                                                   : several_causes(result));
  if (is_the_answer(result))
    if (const std::string window = window_text(result.preemptions.front()); !window.empty())
      paragraphs.push_back(window);
  if (std::string choices = choices_text(result); !choices.empty())
    paragraphs.push_back(std::move(choices));
  if (result.pair) paragraphs.push_back(order_text(*result.pair));
  if (std::string reach = reach_text(result); !reach.empty())
    paragraphs.push_back(std::move(reach));
  return paragraphs;
}

bool is_the_answer(const IsolateResult& result) {
  if (result.preemptions.size() != 1 || result.preemption_count != 1 || result.switches.size() != 1)
    return false;
  const IsolatedSwitch& one = result.switches.front();
  return one.kind != IsolatedSwitch::Kind::kChoice && one.fail_next &&
         one.fail_clock == result.preemptions.front().clock;
}

}  // namespace clew
