#include "host/report/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "host/report/names.h"
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
  if (!from.at)
    return fmt::format("{} is preempted at clock {}, at an unknown place,", label_of(from),
                       with_commas(clock));
  return fmt::format("{} is preempted before {}", label_of(from), spot_text(from.at));
}

std::string next_text(const std::optional<Standpoint>& next, const std::string& to) {
  if (!next || next->thread.empty()) return thread_or(to, "the next thread");
  std::string text = label_of(*next);
  if (next->at) text += ", which runs from " + spot_text(next->at);
  return text;
}

std::string switch_text(const Standpoint& from, std::uint64_t clock,
                        const std::optional<Standpoint>& next, const std::string& to) {
  return fmt::format("{} by {}", preempted_text(from, clock), next_text(next, to));
}

// Of a switch that may have had no effect: then no other thread ran.
std::string maybe_switch_text(const Standpoint& from, std::uint64_t clock,
                              const std::optional<Standpoint>& next, const std::string& to) {
  if (next) return switch_text(from, clock, next, to);
  return fmt::format("{} runs at clock {}{}", label_of(from), with_commas(clock),
                     from.at ? ", from " + spot_text(from.at) : "");
}

// ---- Choices

// Who asks, where; the thread that is named.
constexpr std::string_view sentence(abi::ChoiceKind kind) {
  switch (kind) {
    case abi::ChoiceKind::kTimeout:
      return "a timed wait of {0} at {1} times out at once";
    case abi::ChoiceKind::kSpurious:
      return "a condition wait of {0} at {1} wakes up spuriously";
    case abi::ChoiceKind::kTrylock:
      return "a trylock of {0} at {1} fails though the lock is free";
    case abi::ChoiceKind::kCas:
      return "a weak compare-exchange of {0} at {1} fails though the values are equal";
    case abi::ChoiceKind::kPick:
      return "{2} runs next when {0} blocks at {1}";
    case abi::ChoiceKind::kWake:
      return "{0} wakes {2} or hands it the lock, at {1}";
    case abi::ChoiceKind::kCount:
      break;
  }
  return "a choice is made by {0} at {1}";
}

std::string choice_text(const Choice& choice, const Standpoint& from) {
  const std::string named = thread_or(choice.thread ? choice.thread->text() : "", "a thread");
  return fmt::format(fmt::runtime(sentence(choice.kind)), label_of(from), spot_text(from.at),
                     named);
}

// ---- The passing run, seen from the failing one

std::string steps_text(std::uint64_t fail_clock, std::uint64_t pass_clock) {
  const std::uint64_t steps = std::max(fail_clock, pass_clock) - std::min(fail_clock, pass_clock);
  return fmt::format("{} {} {}", steps == 1 ? "one" : with_commas(steps),
                     steps == 1 ? "step" : "steps", pass_clock > fail_clock ? "later" : "earlier");
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string moved_text(const IsolatedSwitch& difference) {
  if (!difference.pass_clock) return "Without this switch the program passes.";
  const std::string steps = steps_text(difference.fail_clock, *difference.pass_clock);
  if (!difference.pass_from || !difference.pass_next)
    return fmt::format("If the switch comes {}, the program passes.", steps);
  const Standpoint& from = *difference.pass_from;
  const bool same = from.thread == difference.fail_from.thread;
  // The one step is the event that the thread stood before.
  if (same && *difference.pass_clock == difference.fail_clock + 1 && difference.fail_from.at)
    return fmt::format("{}, after {}, the program passes.", capitalized(steps),
                       spot_text(difference.fail_from.at));
  if (same)
    return fmt::format("If {} is preempted {}{}, the program passes.", label_of(from), steps,
                       from.at ? ", before " + spot_text(from.at) : "");
  return fmt::format("If the switch comes {}, when {} runs{}, the program passes.", steps,
                     label_of(from), from.at ? " and stands before " + spot_text(from.at) : "");
}

std::string target_text(const IsolatedSwitch& difference) {
  const bool known = difference.pass_next && !difference.pass_next->thread.empty();
  const std::string other =
      known ? label_of(*difference.pass_next) : thread_or(difference.pass_to, "another thread");
  return fmt::format("If {} runs there instead, the program passes.", other);
}

// ---- The answer

std::string one_cause(const IsolatedSwitch& difference) {
  const std::string failing = failing_side(difference);
  const std::string passing = passing_side(difference);
  if (failing.empty())
    return passing.empty()
               ? "The difference is in a part of the runs that could not be examined."
               : fmt::format("The program passes when {}. Without this it fails.", passing);
  std::string text = fmt::format("The failure happens when {}. ", failing);
  switch (difference.kind) {
    case IsolatedSwitch::Kind::kMove:
      return text + moved_text(difference);
    case IsolatedSwitch::Kind::kTarget:
      return text + target_text(difference);
    case IsolatedSwitch::Kind::kChoice:
      break;
  }
  return text + "Otherwise the program passes.";
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

struct Verb {
  abi::StepKind kind;
  std::string_view past;
  std::string_view alone;  // of an unknown object
};
constexpr std::array<Verb, 9> kVerbs{{{abi::StepKind::kRead, "read", "read memory"},
                                      {abi::StepKind::kWrite, "wrote", "wrote to memory"},
                                      {abi::StepKind::kUpdate, "changed", "changed memory"},
                                      {abi::StepKind::kLock, "locked", "took a lock"},
                                      {abi::StepKind::kUnlock, "unlocked", "released a lock"},
                                      {abi::StepKind::kWait, "waited for", "waited"},
                                      {abi::StepKind::kSignal, "signalled", "signalled"},
                                      {abi::StepKind::kCreate, "created", "created a thread"},
                                      {abi::StepKind::kJoin, "joined", "joined a thread"}}};

// What the runtime calls its own objects, in words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOwnObjects{
    {{"clew_outside", "the outside (files, pipes, sockets)"}, {"clew_process", "the process"}}};

std::string object_of(const EventInfo& event) {
  for (const auto& [name, words] : kOwnObjects)
    if (event.variable == name) return std::string(words);
  if (!event.variable.empty()) return fmt::format("`{}`", printable(event.variable));
  return event.object != 0 ? fmt::format("{:#x}", event.object) : "";
}

// "T0.3 read `head` at queue.cc:28"
std::string did_text(const EventInfo& event, const std::string& object) {
  const auto verb = std::ranges::find(kVerbs, event.kind, &Verb::kind);
  const std::string thread = thread_or(event.thread, "a thread");
  if (verb == kVerbs.end()) return fmt::format("{} passed {}", thread, spot_text(event.at));
  return fmt::format(
      "{} {} at {}", thread,
      object.empty() ? std::string(verb->alone) : fmt::format("{} {}", verb->past, object),
      spot_text(event.at));
}

// "write `head` at queue.cc:47"
std::string coming_text(const EventInfo& event, const std::string& object) {
  const bool known = std::ranges::find(kVerbs, event.kind, &Verb::kind) != kVerbs.end();
  if (!known) return spot_text(event.at);
  return fmt::format("{}{} at {}", to_word(event.kind), object.empty() ? "" : " " + object,
                     spot_text(event.at));
}

// What the two critical sections are about.
std::string guarded_text(const CriticalPair& pair) {
  if (!pair.guarded_first || !pair.guarded_second) return "";
  const std::string first = object_of(*pair.guarded_first);
  std::string second = object_of(*pair.guarded_second);
  if (!first.empty() && first == second) second = "it";
  return fmt::format(" With that, {} before {} could {}.", did_text(*pair.guarded_first, first),
                     thread_or(pair.guarded_second->thread, "a thread"),
                     coming_text(*pair.guarded_second, second));
}

std::string order_text(const CriticalPair& pair) {
  const std::string first = object_of(pair.first);
  std::string second = object_of(pair.second);
  if (!first.empty() && first == second) second = "it";
  if (pair.second.clock == 0)
    return fmt::format("{}, and the run fails before {} gets to {}.{}", did_text(pair.first, first),
                       thread_or(pair.second.thread, "a thread"), coming_text(pair.second, second),
                       pair.confirmed
                           ? " If that comes first, the program passes (checked by running)."
                           : " Not confirmed: clew could not test this order alone.");
  const std::string order =
      fmt::format("{} before {}", did_text(pair.first, first), did_text(pair.second, second));
  if (pair.confirmed)
    return order +
           ". In this order the program fails, in the other it passes (checked by running).";
  return fmt::format("In the failing run, {}. Not confirmed: clew could not test this order alone.",
                     order);
}

std::string pair_text(const CriticalPair& pair) { return order_text(pair) + guarded_text(pair); }

}  // namespace

std::string spot_text(const std::optional<Location>& at) {
  if (!at || (at->file.empty() && at->function.empty())) return "an unknown place";
  if (at->file.empty()) return printable(function_text(at->function));
  // The whole path stands in the backtrace.
  const std::string line =
      location_text({std::filesystem::path(at->file).filename().string(), at->line, ""});
  return at->function.empty() ? line
                              : fmt::format("{} ({})", line, printable(in_function(at->function)));
}

std::string label_of(const Standpoint& standpoint) {
  const std::string id = thread_or(standpoint.thread, "a thread");
  return standpoint.name.empty() ? id : fmt::format("{} ({})", id, printable(standpoint.name));
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
  return maybe_switch_text(*difference.pass_from, *difference.pass_clock, difference.pass_next,
                           difference.pass_to);
}

std::string preemption_text(const PreemptionInfo& preemption) {
  return switch_text(preemption.from, preemption.clock, preemption.next, preemption.to);
}

// The calls between which, or within which, it happens: the code that should be atomic.
std::string callers_text(const SwitchWindow& window) {
  if (!window.caller_first || !window.caller_last) return "";
  const std::string first = spot_text(window.caller_first);
  const std::string last = spot_text(window.caller_last);
  if (first == last) return fmt::format(" Both are within the call at {}.", first);
  return fmt::format(" It is between the calls at {} and at {}.", first, last);
}

std::string window_text(const PreemptionInfo& preemption) {
  if (!preemption.window || preemption.window->positions == 0) return "";
  const SwitchWindow& window = *preemption.window;
  const std::string who = label_of(preemption.from);
  const std::string begin = spot_text(window.after ? window.after : window.first);
  const std::string end = spot_text(window.last);
  const std::string where =
      begin == end ? "on " + end : fmt::format("between {} and {}", begin, end);
  const std::string calls = callers_text(window);
  if (window.positions == 1)
    return fmt::format(
        "A preemption of {} {} leads to this failure; one step earlier or later, it does not.{}",
        who, window.after ? where : "there", calls);
  const std::string tried = window.tested >= window.positions
                                ? "all tried"
                                : fmt::format("{} tried", with_commas(window.tested));
  const std::string size = fmt::format("{}, {}", counted(window.positions, "place"), tried);
  if (!window.first && !window.last)
    return fmt::format(
        "{} can be preempted in a wider part of its course ({}): the program still fails.", who,
        size);
  return fmt::format("{} can be preempted anywhere {} ({}): the program still fails.{}", who, where,
                     size, calls);
}

// "At the end of the failing run, T0.1 waits for mutex a, held by T0.2, at x.cc:17 (in f()); ..."
std::string waits_text(const std::vector<WaitInfo>& waits) {
  std::string text = "At the end of the failing run, ";
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const WaitInfo& wait = waits[i];
    text += fmt::format("{}{} waits for {}{} at {}", i == 0 ? "" : "; ", wait.thread,
                        object_text(wait.kind, wait.object, wait.variable, wait.ending),
                        wait.holder.empty() ? "" : fmt::format(", held by {},", wait.holder),
                        spot_text(wait.at));
  }
  return text + ".";
}

std::vector<std::string> cause_paragraphs(const IsolateResult& result) {
  std::vector<std::string> paragraphs;
  if (result.switches.empty()) return paragraphs;
  paragraphs.push_back(result.switches.size() == 1 ? one_cause(result.switches.front())
                                                   : several_causes(result));
  if (result.preemptions.size() == 1 && result.preemption_count == 1)
    if (const std::string window = window_text(result.preemptions.front()); !window.empty())
      paragraphs.push_back(window);
  if (result.pair) paragraphs.push_back(pair_text(*result.pair));
  if (!result.waits.empty()) paragraphs.push_back(waits_text(result.waits));
  return paragraphs;
}

}  // namespace clew
