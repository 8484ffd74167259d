#include "host/report/isolate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "host/report/cause.h"
#include "host/report/course.h"
#include "host/report/hunt_text.h"
#include "host/report/names.h"
#include "host/report/run_text.h"
#include "host/report/stacks.h"
#include "host/report/threads.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kMostDetailed = 3;  // switches with backtraces
constexpr std::size_t kMostListed = 10;

// ---- Words

std::string differences_text(DeltaCount number) {
  return fmt::format("{} {}", with_commas(number), number == 1 ? "difference" : "differences");
}

std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0);
}

// "1 thread switch", "2 thread switches and 1 other choice"
std::string parts_text(const IsolateResult& result) {
  const auto choices = static_cast<std::uint64_t>(
      std::ranges::count(result.switches, IsolatedSwitch::Kind::kChoice, &IsolatedSwitch::kind));
  const std::uint64_t switches = result.switches.size() - choices;
  if (choices == 0) return counted(switches, "thread switch");
  if (switches == 0) return counted(choices, "scheduling choice");
  return fmt::format("{} and {}", counted(switches, "thread switch"),
                     counted(choices, "other choice"));
}

const char* end_text(const IsolateResult& result) {
  if (result.interrupted_by != 0) return "interrupted";
  return result.complete ? "" : "stopped at a limit";
}

// "(4 tests, 24 differences, interrupted)"
std::string effort_text(const IsolateResult& result) {
  std::string text = counted(result.tests, "test");
  if (result.deltas) text += ", " + differences_text(*result.deltas);
  if (const std::string end = end_text(result); !end.empty()) text += ", " + end;
  return fmt::format("({})", text);
}

// ---- Without an answer

std::string no_answer(const IsolateResult& result) {
  if (how_far(result) == Isolated::kAlwaysFails && result.complete)
    return "The program fails under every schedule that was tried, also without any preemption. "
           "Either the failure does not depend on the schedule, or no schedule under which the "
           "program passes was among them.";
  if (how_far(result) == Isolated::kAlwaysFails)
    return "No passing schedule was found before the limit. Without one there is nothing to "
           "compare "
           "the failing one with.";
  return result.complete ? "What was found did not happen again when it was run once more."
                         : "The isolation ended before it found anything: give it more time.";
}

// Whether the program's own code has no lines: a place in a library, or one that the compiler made
// without a line, says nothing about that.
bool lacks_lines(const std::vector<SourceFrame>& stack) {
  const auto own = [](const SourceFrame& frame) {
    const std::string_view module = frame.module;
    return !module.empty() && !module.starts_with("/usr/lib/") && !module.starts_with("/lib");
  };
  return std::ranges::any_of(stack, own) &&
         std::ranges::none_of(
             stack, [&](const SourceFrame& frame) { return own(frame) && !frame.file.empty(); });
}

std::string hint(const IsolateResult& result) {
  if (how_far(result) == Isolated::kAlwaysFails)
    return fmt::format("if you have a recording that passes: clew isolate {} PASSING",
                       result.original);
  if (result.interrupted_by == 0 && !result.complete) return "more --time or --tests";
  const bool blind = std::ranges::any_of(result.switches, [](const IsolatedSwitch& one) {
    return !one.fail_from.at && lacks_lines(one.fail_from.stack);
  });
  return blind ? "source lines are missing: build the program with -g" : "";
}

// ---- Switches

std::string stand_text(const std::string& line, const Standpoint& standpoint) {
  std::string text = wrapped(line, "  ");
  if (standpoint.at) text += excerpt(*standpoint.at);
  return text + stack_text(standpoint.stack, "    ");
}

// "T0.2: dequeue < thread_b": the passing side's backtraces, in one line.
std::string short_stack(const Standpoint& standpoint) {
  constexpr std::size_t kMostFrames = 4;
  std::string text;
  std::size_t count = 0;
  for (const SourceFrame& frame : standpoint.stack) {
    if (!is_user_code(frame) || frame.function.empty()) continue;
    if (++count > kMostFrames) break;
    text += (text.empty() ? "" : " < ") + printable(function_text(frame.function));
  }
  if (text.empty()) return "";
  return wrapped(
      fmt::format("{}: {}{}", label_of(standpoint), text, count > kMostFrames ? " < …" : ""),
      "    ");
}

bool same_line(const std::optional<Location>& a, const std::optional<Location>& b) {
  return a && b && a->file == b->file && a->line == b->line;
}

std::string failing_text(const IsolatedSwitch& one) {
  const std::string side = failing_side(one);
  if (side.empty()) return "  fails: without this\n";
  std::string text = stand_text("fails: " + side, one.fail_from);
  if (one.kind != IsolatedSwitch::Kind::kChoice && one.fail_next)
    text += one.fail_next->at
                ? stand_text(label_of(*one.fail_next) + " runs instead", *one.fail_next)
                : fmt::format("  {} runs instead, from its start or in code without source\n",
                              label_of(*one.fail_next));
  return text;
}

std::string passing_text(const IsolatedSwitch& one) {
  const std::string side = passing_side(one);
  if (side.empty()) return "  passes: without this\n";
  std::string text = wrapped("passes: " + side, "  ");
  const Standpoint& from = *one.pass_from;
  if (from.at && !same_line(from.at, one.fail_from.at)) text += excerpt(*from.at);
  text += short_stack(from);
  if (!one.pass_next) return text;
  const auto seen = one.fail_next ? one.fail_next->at : std::nullopt;
  if (one.pass_next->at && !same_line(one.pass_next->at, seen)) text += excerpt(*one.pass_next->at);
  if (one.pass_next->thread != from.thread) text += short_stack(*one.pass_next);
  return text;
}

std::string title(const IsolatedSwitch& one) {
  if (one.kind == IsolatedSwitch::Kind::kChoice)
    return fmt::format("Choice ({}) at clock {}", one.choice ? choice_word(*one.choice) : "",
                       with_commas(one.fail_clock));
  std::string clocks;
  if (!failing_side(one).empty())
    clocks = fmt::format("at clock {} in the failing run", with_commas(one.fail_clock));
  if (one.pass_clock)
    clocks += fmt::format("{}{} in the passing run", clocks.empty() ? "at clock " : ", ",
                          with_commas(*one.pass_clock));
  return fmt::format("Switch {}", clocks);
}

std::string switches_text(const IsolateResult& result) {
  std::string text;
  const std::size_t detailed = std::min(result.switches.size(), kMostDetailed);
  for (std::size_t i = 0; i < detailed; ++i) {
    const IsolatedSwitch& one = result.switches[i];
    text += fmt::format("\n{}\n{}{}", title(one), failing_text(one), passing_text(one));
  }
  const std::size_t listed = std::min(result.switches.size(), kMostListed);
  for (std::size_t i = detailed; i < listed; ++i)
    text += fmt::format("{}{}\n", i == detailed ? "\n" : "", title(result.switches[i]));
  if (result.switches.size() > listed)
    text += fmt::format("… {} more, --json has them all\n",
                        with_commas(result.switches.size() - listed));
  return text;
}

std::string preemptions_text(const IsolateResult& result) {
  if (result.simplified && result.failing && result.preemption_count == 0)
    return "\n  The failing run needs no preemption: each thread runs until it waits or ends.\n";
  // A single one is part of the answer.
  if (result.preemptions.empty() || is_the_answer(result)) return "";
  std::string text = fmt::format("\nThe failing schedule has {}\n",
                                 counted(result.preemption_count, "preemption"));
  const std::size_t listed = std::min(result.preemptions.size(), kMostListed);
  for (std::size_t i = 0; i < listed; ++i) {
    const PreemptionInfo& one = result.preemptions[i];
    text +=
        wrapped(fmt::format("clock {}: {}", with_commas(one.clock), preemption_text(one)), "  ");
    if (const std::string window = window_text(one); !window.empty())
      text += wrapped(window, "    ");
  }
  if (result.preemption_count > listed)
    text += fmt::format("  … {} more\n", with_commas(result.preemption_count - listed));
  return text;
}

// ---- The rest

std::string courses_text(const IsolateResult& result) {
  const auto threads = threads_of(result.failing_course, result.passing_course);
  std::string text;
  const auto add = [&](const char* which, const std::vector<CourseLine>& course) {
    if (course.empty()) return;
    const bool marked = std::ranges::any_of(course, &CourseLine::marked);
    text += fmt::format("\n{} run, step by step{}\n", which,
                        !marked ? "" : " (*: the two steps named above)");
    text += course_text(course, threads);
  };
  add("Failing", result.failing_course);
  add("Passing", result.passing_course);
  return text;
}

// About schedules with fewer preemptions than the failing run has.
std::string simplest_text(const IsolateResult& result) {
  if (result.simplest < result.preemption_count)
    return result.simplest == 0
               ? "; without any it fails, too"
               : fmt::format("; with {} it fails, too", with_commas(result.simplest));
  return result.fewest && result.preemption_count > 0 ? "; none with fewer fails" : "";
}

// What the hunt has found may be as simple as it gets.
std::string simplified_text(const IsolateResult& result) {
  if (!result.simplified || !result.failing) return "";
  const std::string simplest = simplest_text(result);
  if (result.original_preemptions != result.preemption_count)
    return fmt::format(" (simplified from {}{})",
                       counted(result.original_preemptions, "preemption"), simplest);
  return simplest.empty() ? "" : fmt::format(" ({})", simplest.substr(2));
}

std::string runs_text(double runs) {
  return runs < 10 ? fmt::format("{:.1f}", runs)
                   : with_commas(static_cast<DeltaCount>(std::llround(runs)));
}

std::string figures_text(const IsolateResult& result) {
  std::string text;
  auto out = std::back_inserter(text);
  if (result.deltas)
    fmt::format_to(out, "  {} between the schedules, {} left\n", differences_text(*result.deltas),
                   with_commas(result.deltas_left.value_or(*result.deltas)));
  // Runs that were no tests of a difference cost, too: the failing schedule itself, the search for a
  // passing one.
  fmt::format_to(out, "  {}{}, {}\n",
                 result.tests == 0 ? "no difference was tested" : counted(result.tests, "test"),
                 result.cost_runs == 0 ? ""
                                       : fmt::format(", cost: about {} runs of the program",
                                                     runs_text(result.cost_runs)),
                 seconds_text(result.seconds));
  if (!result.failing && result.cost_runs == 0) return text;  // it was not run
  fmt::format_to(out, "  failing schedule: {}",
                 counted(result.failing ? result.preemption_count : result.original_preemptions,
                         "preemption"));
  if (result.choice_count != 0)
    fmt::format_to(out, " and {}", counted(result.choice_count, "other choice"));
  text += simplified_text(result) + "\n";
  if (how_far(result) == Isolated::kDone)
    text += result.minimal ? "  checked by running: no single change brings the two runs closer\n"
                           : "  not checked: whether the two runs can be brought still closer\n";
  if (how_far(result) == Isolated::kDone && !result.complete)
    fmt::format_to(out, "  {} before everything about it was examined\n", end_text(result));
  return text;
}

std::string remarks_text(const IsolateResult& result) {
  std::string text;
  for (const std::string& doubt : result.doubts)
    text += wrapped("not confirmed: " + printable(doubt), "  ");
  for (const std::string& note : result.notes) text += wrapped("note: " + printable(note), "  ");
  return text;
}

std::string next_commands(const IsolateResult& result) {
  std::string text;
  auto out = std::back_inserter(text);
  const std::uint64_t failing = result.failing.value_or(result.original);
  if (failing == 0) return "";  // a recording outside of .clew
  if (result.failing && !result.switches.empty() && !failing_side(result.switches.front()).empty())
    fmt::format_to(out, "  all threads at that point: clew where {} {}\n", failing,
                   result.switches.front().fail_clock);
  fmt::format_to(out, "  look at {}: clew show {}", result.passing ? "both runs" : "it", failing);
  if (result.passing) fmt::format_to(out, "; clew show {}", *result.passing);
  fmt::format_to(out, "\n  in gdb: clew replay {} --gdb\n", failing);
  if (result.passing)
    fmt::format_to(out, "  replay the passing run: clew replay {}\n", *result.passing);
  fmt::format_to(out, "  replay the failing run: clew replay {}\n", failing);
  return text;
}

}  // namespace

std::string status_text(const IsolateStatus& status) {
  std::string text = to_word(status.stage);
  text += ", " + counted(status.tests, "test");
  if (status.deltas_left) text += fmt::format(", {} left", differences_text(*status.deltas_left));
  if (status.tests_left)
    text += fmt::format(", about {} to go", counted(*status.tests_left, "test"));
  return text + fmt::format(", {:.0f} s", status.seconds);
}

std::string headline(const IsolateResult& result) {
  switch (how_far(result)) {
    case Isolated::kDone:
      return fmt::format("isolated: {} {} the difference {}", parts_text(result),
                         result.switches.size() == 1 ? "makes" : "together make",
                         effort_text(result));
    case Isolated::kNarrowed:
      return fmt::format("narrowed: {} left {}", parts_text(result), effort_text(result));
    case Isolated::kAlwaysFails:
      return fmt::format("not isolated: {} {}",
                         result.complete ? "it fails under every schedule that was tried"
                                         : "no passing schedule was found",
                         effort_text(result));
    case Isolated::kNothing:
      break;
  }
  return fmt::format("not isolated: nothing was found {}", effort_text(result));
}

std::string isolate_text(const IsolateResult& result, const LastWords& words) {
  Mentions threads(result);
  std::string text;
  if (!result.failure.detail.empty())
    text = wrapped(threads.introduce("failure: " + failure_line(result.failure)), "  ");
  text += symptom_text(result.failure, words, "  ");
  if (how_far(result) == Isolated::kNarrowed)
    text += "\n" + wrapped(
                       "The isolation ended early. What is left at this point may be more than "
                       "the cause:",
                       "  ");
  const auto paragraphs = cause_paragraphs(result);
  for (const std::string& paragraph : paragraphs)
    text += "\n" + wrapped(threads.introduce(paragraph), "  ");
  if (paragraphs.empty()) text += "\n" + wrapped(no_answer(result), "  ");
  if (const std::string legend = threads.legend(); !legend.empty())
    text += "\n" + wrapped(fmt::format("({})", legend), "  ");
  text += switches_text(result) + preemptions_text(result) + courses_text(result);
  text += "\n" + figures_text(result) + remarks_text(result) + next_commands(result);
  if (const std::string advice = hint(result); !advice.empty())
    text += fmt::format("hint: {}\n", advice);
  return text;
}

}  // namespace clew
