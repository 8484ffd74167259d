#include "host/report/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/report/explain_cause.h"
#include "host/report/explain_details.h"
#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kSourceColumns = 40;

// What a wait goes by is told already, and how it was tested.
bool tells_same(const Cause& behind, const std::optional<Check>& check) {
  return check && behind.pattern == CausePattern::kTooEarly && behind.variable == check->variable &&
         behind.use.thread == check->read.thread && behind.use.at.line == check->read.at.line &&
         behind.use.at.file == check->read.at.file;
}

std::string sync_text(const StoryStep& step) {
  const std::string& object = step.variable;
  switch (step.sync) {
    case SyncEvent::kWaitsForever:
      return object.empty() ? "waits for ever"
                            : fmt::format("waits for `{}` for ever", printable(object));
    case SyncEvent::kTaken:
      return object.empty() ? "takes a lock" : fmt::format("takes `{}`", printable(object));
    case SyncEvent::kSignalled:
      return object.empty() ? "signals" : fmt::format("signals `{}`", printable(object));
    case SyncEvent::kNone:
      break;
  }
  return "";
}

std::string branch_text(const StoryStep& step) {
  const std::uint32_t failing = step.failing_line;
  const std::uint32_t passing = step.passing_line;
  if (step.branch_end == BranchEnd::kAssertion) return "the assertion fails";
  if (step.branch_end == BranchEnd::kSanitizer) return "AddressSanitizer stops it";
  if (step.failing == step.passing) return "takes the other way";
  if (failing == 0 || passing == 0)
    return fmt::format("{}, not: {}", printable(step.failing), printable(step.passing));
  if (failing == step.at.line)
    return fmt::format("stays in this line, does not go to line {}", passing);
  if (passing == step.at.line)
    return fmt::format("goes to line {}, does not stay in this line", failing);
  return fmt::format("goes to line {}, not to line {}", failing, passing);
}

std::string step_text(const StoryStep& step) {
  std::string what;
  if (step.branch) {
    what = branch_text(step);
  } else if (step.sync != SyncEvent::kNone) {
    what = sync_text(step);
    if (step.returns_in_passing) what += " (continues in the passing run)";
  } else if (!step.failing.empty() && !step.passing.empty()) {
    what = step.failing == step.passing
               ? fmt::format("`{}` is {}", printable(step.variable), printable(step.failing))
               : fmt::format("`{}` is {}, not {}", printable(step.variable),
                             printable(step.failing), printable(step.passing));
  } else if (!step.failing.empty()) {
    what = fmt::format("`{}` is {}", printable(step.variable), printable(step.failing));
  } else if (!step.passing.empty()) {
    what = fmt::format("`{}` becomes {}", printable(step.variable), printable(step.passing));
  } else if (!step.variable.empty()) {
    what = fmt::format("makes `{}`", printable(step.variable));
  }
  if (step.only_failing) what += what.empty() ? "in the failing run only" : " (failing run only)";
  if (step.only_passing) what += what.empty() ? "in the passing run only" : " (passing run only)";
  return what;
}

const char* mark_of(Confirmed confirmed) {
  switch (confirmed) {
    case Confirmed::kByValue:
    case Confirmed::kByBranch:
      return "*";
    case Confirmed::kByOrder:
      return "#";
    case Confirmed::kJointly:
      return "&";
    case Confirmed::kNotTestable:
      return "-";
    case Confirmed::kNotTested:
    case Confirmed::kRefuted:
      break;
  }
  return " ";
}

// What the marks of the steps that are shown mean.
std::string legend(const Explanation& explanation, bool full) {
  std::string text;
  const auto has = [&](const auto& test) {
    return std::ranges::any_of(explanation.story, [&](const StoryStep& step) {
      return (full || step.main) && test(step);
    });
  };
  const auto marked = [&](std::initializer_list<Confirmed> marks) {
    return has([&](const StoryStep& step) {
      return std::ranges::find(marks, step.confirmed) != marks.end();
    });
  };
  const bool of_lock = has([](const StoryStep& step) {
    return step.confirmed == Confirmed::kByOrder && step.sync == SyncEvent::kTaken;
  });
  if (of_lock)
    text +=
        "  # tested by a schedule: the failing one, changed so that this lock is taken only when "
        "the\n"
        "    thread that waits for it has had it, passes\n";
  else if (marked({Confirmed::kByOrder}))
    text +=
        "  # tested by a schedule: the failing one, changed so that the two events come in the "
        "order of\n"
        "    the passing run, passes\n";
  if (marked({Confirmed::kByValue}) || marked({Confirmed::kByBranch})) {
    const char* what = !marked({Confirmed::kByBranch}) ? "the value of the other run put in"
                       : !marked({Confirmed::kByValue})
                           ? "the way of the other run taken"
                           : "the value or the way of the other run put in";
    std::string lines =
        wrapped(fmt::format("tested: with {} here and nothing else changed, the failing run "
                            "passes, or the passing run fails in the same way",
                            what),
                "    ");
    lines[2] = '*';
    text += lines;
  }
  if (marked({Confirmed::kJointly}))
    text += "  & tested together with others: alone it makes no difference\n";
  if (has([](const StoryStep& step) { return step.link == Link::kConfirmed; }))
    text += "  > tested: with the step before as in the passing run, this one is, too\n";
  if (marked({Confirmed::kNotTestable}))
    text += "  - could not be tested: nothing of the other run can be put in here\n";
  if (marked({Confirmed::kNotTested, Confirmed::kRefuted}))
    text += "  without a mark: not tested, or the tests told nothing\n";
  return text;
}

std::string fitted(const std::string& text) {
  const std::string clean = printable(text);
  return clean.size() <= kSourceColumns ? clean : clean.substr(0, kSourceColumns - 3) + "...";
}

std::string story_text(const Explanation& explanation, bool full) {
  std::size_t place = 0;
  std::size_t thread = 0;
  for (const StoryStep& step : explanation.story) {
    place = std::max(place, cause_line(step.at).size());
    thread = std::max(thread, step.thread.size());
  }
  std::string text;
  std::size_t number = 0;
  std::size_t skipped = 0;
  for (const StoryStep& step : explanation.story) {
    ++number;
    if (!full && !step.main) {
      ++skipped;
      continue;
    }
    if (skipped > 0) text += fmt::format("       ... {} in between\n", counted(skipped, "step"));
    skipped = 0;
    text +=
        fmt::format("{}{} {:>3}  {:<{}}  {:<{}}  {:<{}}  {}\n", mark_of(step.confirmed),
                    step.link == Link::kConfirmed ? ">" : " ", number, step.thread, thread,
                    cause_line(step.at), place, fitted(step.text), kSourceColumns, step_text(step));
  }
  return text;
}

const char* cause_words(const Cause& cause) {
  // No deadlock has come about.
  if (cause.pattern == CausePattern::kLockOrder)
    return "locks are taken in an order that can deadlock";
  if (cause.pattern == CausePattern::kReported) return "reported by a listener";
  return kind_words(cause.kind);
}

std::string asked_line(const Question& question) {
  return printable(fmt::format("{}:{}", question.file, question.line));
}

std::string times_text(std::uint64_t times, bool more) {
  return more ? fmt::format("{} or more", counted(times, "time")) : counted(times, "time");
}

// Why nothing is told of the line.
std::string not_told(const Asked& asked) {
  const std::string line = asked_line(asked.question);
  const auto [failing, passing] = asked.times;
  if (failing == 0 && passing == 0) return fmt::format("neither run executes {}", line);
  if (asked.question.why_not && failing > 0)
    return fmt::format("the failing run does execute {}, {}", line,
                       times_text(failing, asked.more));
  if (asked.question.why_not)
    return fmt::format("not explained: no branch that keeps the failing run from {} was seen",
                       line);
  if (failing == 0)
    return fmt::format(
        "the failing run does not execute {}, the passing run does, {}: ask 'why "
        "not {}'",
        line, times_text(passing, asked.more), line);
  return fmt::format("no access of `{}` by that name was seen at {}",
                     printable(asked.question.variable), line);
}

std::string asked_headline(const Asked& asked) {
  if (asked.thread.empty()) return not_told(asked);
  const std::string line = asked_line(asked.question);
  if (asked.question.why_not)
    return fmt::format("the failing run does not come to {}: {} turns off at {} (clock {})", line,
                       asked.thread, cause_line(asked.at), with_commas(asked.clock));
  const std::string where =
      fmt::format("at {} in {} (clock {})", line, asked.thread, with_commas(asked.clock));
  if (asked.variable.empty())
    return asked.differs ? fmt::format("{} the runs differ", where)
                         : fmt::format("{} the runs do the same", where);
  if (asked.passing.empty())
    return fmt::format("{} `{}` is {}; the passing run does not execute it there", where,
                       printable(asked.variable), printable(asked.failing));
  if (asked.failing == asked.passing)
    return fmt::format("{} `{}` is {} in both runs", where, printable(asked.variable),
                       printable(asked.failing));
  return fmt::format("{} `{}` is {}, in the passing run {}", where, printable(asked.variable),
                     printable(asked.failing), printable(asked.passing));
}

std::string asked_text(const Explanation& explanation) {
  const Asked& asked = *explanation.asked;
  if (asked.thread.empty()) return "";
  std::string text;
  if (asked.source)
    text += wrapped(fmt::format("It is read there{}.", origin_text(asked.source)), "  ");
  const std::string cause = cause_sentence(explanation.cause);
  if (!cause.empty())
    text +=
        wrapped(fmt::format("Behind it, {}: {}.", kind_words(explanation.cause.kind), cause), "  ");
  else if (asked.differs || asked.question.why_not)
    text += "  No difference between the two runs that was seen leads there.\n";
  return text;
}

}  // namespace

std::string headline(const Explanation& explanation) {
  if (explanation.asked) return asked_headline(*explanation.asked);
  const std::string sentence = cause_sentence(explanation.cause);
  if (sentence.empty())
    return "not explained: no difference between the two runs that was seen leads to the failure";
  if (const auto& wait = explanation.cause.timed_out; wait && explanation.cause.timed_out_late)
    return fmt::format(
        "{}: the wait of {} at {} times out, and then {}; in the passing run that is written "
        "before the wait ends",
        kind_words(explanation.cause.kind), wait->thread, shared_line(*wait), sentence);
  else if (wait)
    return fmt::format("{}: the wait of {} at {} times out; in the passing run it does not",
                       kind_words(explanation.cause.kind), wait->thread, shared_line(*wait));
  return fmt::format("{}: {}", cause_words(explanation.cause), sentence);
}

std::string explain_text(const Explanation& explanation, bool full) {
  const Cause& cause = explanation.cause;
  std::string text;
  if (explanation.asked)
    text += asked_text(explanation);
  else if (cause.timed_out && !cause.timed_out_late)
    text += wrapped(fmt::format("Then {}.", cause_sentence(cause)), "  ");
  // What misled a thread says more than the values that came of it.
  const bool misled =
      cause.pattern == CausePattern::kTooEarly || cause.pattern == CausePattern::kOverwritten;
  if (misled) text += check_text(cause);
  if (misled || cause.pattern == CausePattern::kBetween) text += values_text(cause);
  if (cause.pattern == CausePattern::kBetween) text += locks_text(cause);
  text += found_text(cause);
  if (cause.freed)
    text += wrapped(fmt::format("{} has freed that memory before the last of them, at {}.",
                                cause.freed->thread, shared_line(*cause.freed)),
                    "  ");
  if (cause.pattern == CausePattern::kUseAfterFree && cause.allocated)
    text += fmt::format("  {} has allocated it at {}.\n", cause.allocated->thread,
                        cause_line(cause.allocated->at));
  text += cause_details(cause);
  if (!misled) text += check_text(cause);
  if (explanation.leads_to)
    text +=
        wrapped(fmt::format("{} {}.",
                            cause.outcome ? "What differs from the passing run:" : "After that,",
                            cause_sentence(*explanation.leads_to)),
                "  ") +
        values_text(*explanation.leads_to) +
        (cause.outcome && explanation.leads_to->pattern == CausePattern::kBetween
             ? locks_text(*explanation.leads_to)
             : std::string());
  if (cause.pattern == CausePattern::kWaitsForever) {
    // Why the thread waits comes before who else does.
    if (const auto& behind = explanation.behind) {
      if (!tells_same(*behind, cause.check)) text += wrapped(cause_sentence(*behind) + ".", "  ");
      text += values_text(*behind) + cause_details(*behind) + check_text(*behind);
    }
    for (std::size_t i = 1; i < cause.waits.size(); ++i)
      text += wrapped(wait_sentence(cause.waits[i]) + ".", "  ");
  } else if (cause.pattern != CausePattern::kLockOrder) {
    for (const WaitFact& fact : cause.waits) text += wrapped(wait_sentence(fact) + ".", "  ");
  }
  for (const Cause& also : explanation.also)
    text +=
        wrapped(fmt::format("This suffices as well, by itself: {}.", cause_sentence(also)), "  ");
  for (const std::string& doubt : explanation.doubts) text += "  " + doubt + "\n";
  if (!explanation.story.empty()) {
    text += explanation.asked ? "\n  from there to the line, step by step:\n"
                              : "\n  from there to the failure, step by step:\n";
    text += story_text(explanation, full);
    text += legend(explanation, full);
    if (!explanation.tests_complete)
      text += fmt::format("  The tests ended after {} runs, before all were made.\n",
                          explanation.tests);
  }
  text +=
      explanation.failing == explanation.passing
          ? fmt::format("\n  There is no passing run to compare with.\n  replay: clew replay {}\n",
                        explanation.failing)
          : fmt::format("\n  replay: clew replay {} (fails), clew replay {} (passes)\n",
                        explanation.failing, explanation.passing);
  const auto first = std::ranges::find_if(
      explanation.story, [](const StoryStep& step) { return step.main && !step.only_passing; });
  if (first != explanation.story.end())
    text += fmt::format("  gdb at step {}: clew replay {} --gdb, and in it: clew goto {}\n",
                        first - explanation.story.begin() + 1, explanation.failing, first->clock);
  if (!full && std::ranges::any_of(explanation.story, [](const StoryStep& s) { return !s.main; }))
    text += "  all steps: clew explain --full\n";
  return text;
}

std::string slice_text(const SliceGraph& graph, const char* kind) {
  std::string text = fmt::format("\n  the {} slice, {}, causes first{}:\n", kind,
                                 counted(graph.lines.size(), "line"),
                                 graph.complete ? "" : " (the last ones only)");
  for (const SliceLine& line : graph.lines) {
    const char* in = !line.passing ? "failing" : !line.failing ? "passing" : "both";
    text += fmt::format("  {:<7}  {:<6} {:<24} {}\n", in, line.thread, cause_line(line.at),
                        printable(line.text));
  }
  return text;
}

}  // namespace clew
