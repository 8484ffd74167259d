#include "host/report/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/report/explain_details.h"
#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kSourceColumns = 40;

const char* kind_words(CauseKind kind) {
  switch (kind) {
    case CauseKind::kDataRace:
      return "data race";
    case CauseKind::kAtomicityViolation:
      return "atomicity violation";
    case CauseKind::kOrderViolation:
      return "order violation";
    case CauseKind::kLostWakeup:
      return "lost wake-up";
    case CauseKind::kDeadlock:
      return "deadlock";
    case CauseKind::kChoice:
      return "another outcome of a call";
    case CauseKind::kUnknown:
      break;
  }
  return "of no kind that clew knows";
}

const char* verb(CauseEvent::What what) {
  const bool vague = what == CauseEvent::What::kCalls || what == CauseEvent::What::kNothing;
  return vague ? "uses" : to_word(what);
}

const char* participle(CauseEvent::What what) {
  switch (what) {
    case CauseEvent::What::kFrees:
      return "freed";
    case CauseEvent::What::kCloses:
      return "closed";
    case CauseEvent::What::kDestroys:
      return "destroyed";
    case CauseEvent::What::kReads:
      return "read";
    case CauseEvent::What::kFailsToUpdate:
      return "left unchanged";
    default:
      return "written";
  }
}

std::string quoted(const std::string& variable) {
  return variable.empty() ? "the same memory" : fmt::format("`{}`", printable(variable));
}

// What the cause is about.
std::string object_of(const Cause& cause) {
  if (!cause.variable.empty() || cause.memory.empty()) return quoted(cause.variable);
  return printable(cause.memory);
}

std::string origin_text(const std::optional<CauseEvent>& source) {
  if (!source) return "";
  if (source->what == CauseEvent::What::kNothing) return ", as it was at the start";
  if (source->what == CauseEvent::What::kCalls)
    return fmt::format(", which {} left there by `{}` at {}", source->thread,
                       printable(source->call), cause_line(source->at));
  return fmt::format(", {} by {} at {}", participle(source->what), source->thread,
                     cause_line(source->at));
}

std::string values_text(const Cause& cause) {
  if (cause.use.value.empty() || cause.passing_value.empty()) return "";
  // Two objects that have the same name: nothing is told by it.
  if (cause.use.value == cause.passing_value &&
      origin_text(cause.failing_source) == origin_text(cause.passing_source))
    return "";
  // Of two that have the same name their origins tell more.
  const bool same = cause.use.value == cause.passing_value;
  const std::string passing_value = same ? "another" : printable(cause.passing_value);
  // Of two variables that are told, which one is meant.
  const std::string& of = cause.beside ? cause.variable : cause.use_variable;
  // The value of an update is what it makes.
  const char* does = cause.use.what == CauseEvent::What::kUpdates ? "makes it" : "reads";
  const char* from = cause.use.what == CauseEvent::What::kUpdates ? " of what was there" : "";
  // What the other run's compare-exchange makes is not what it has found.
  if (cause.use.what == CauseEvent::What::kFailsToUpdate)
    return wrapped(fmt::format("{} finds {}{}.", cause.use.thread, printable(cause.use.value),
                               origin_text(cause.failing_source)),
                   "  ");
  return wrapped(fmt::format("{}{} {} {}{}{}; in the passing run it {} {}{}{}.",
                             of.empty() ? "" : "Of " + quoted(of) + ", ", cause.use.thread, does,
                             printable(cause.use.value), from, origin_text(cause.failing_source),
                             does, passing_value, from, origin_text(cause.passing_source)),
                 "  ");
}

std::string lock_list(const std::vector<HeldLock>& locks) {
  if (locks.empty()) return "no lock";
  std::string text;
  for (const HeldLock& lock : locks)
    text += (text.empty() ? "" : " and ") +
            (lock.name.empty() ? "a lock" : fmt::format("`{}`", printable(lock.name))) +
            (lock.shared ? " for reading" : "");
  return text;
}

std::string locks_text(const Cause& cause) {
  const auto& a = cause.earlier->locks;
  const auto& b = cause.remote->locks;
  const auto& c = cause.later->locks;
  const auto in = [](const std::vector<HeldLock>& locks, const HeldLock& lock) {
    return std::ranges::find(locks, lock) != locks.end();
  };
  std::vector<HeldLock> common;
  for (const HeldLock& lock : a)
    if (in(b, lock) && in(c, lock)) common.push_back(lock);
  // That all have it for reading keeps nobody out, and it need not be released in between.
  const auto only_reads = [&](const HeldLock& lock) {
    return std::ranges::all_of(std::array{&a, &b, &c}, [&](const auto* locks) {
      return std::ranges::find(*locks, lock)->shared;
    });
  };
  if (!common.empty() && std::ranges::all_of(common, only_reads))
    return wrapped(
        fmt::format("All three hold {}, which keeps none of them out.", lock_list(common)), "  ");
  for (HeldLock& lock : common) lock.shared = only_reads(lock);  // some of them may
  if (!common.empty())
    return wrapped(
        fmt::format("All three hold {}, but it is released in between{}.", lock_list(common),
                    cause.released ? ", at " + shared_line(*cause.released) : std::string()),
        "  ");
  if (a.empty() && b.empty() && c.empty()) return "  None of the three holds a lock.\n";
  const std::string then = a == c ? "" : " and then " + lock_list(c);
  return wrapped(fmt::format("{} holds {} there, {} {}{}.", cause.remote->thread, lock_list(b),
                             cause.earlier->thread, lock_list(a), then),
                 "  ");
}

// The C++ library waits by the system call itself, in functions of its own.
std::string object_words(const WaitFact& fact) {
  if (!fact.object.empty()) return fmt::format("for `{}` ", printable(fact.object));
  return fact.wait.call == "syscall" ? "" : fmt::format("in `{}` ", printable(fact.wait.call));
}

// What a wait goes by is told already, and how it was tested.
bool tells_same(const Cause& behind, const std::optional<Check>& check) {
  return check && behind.pattern == CausePattern::kTooEarly && behind.variable == check->variable &&
         behind.use.thread == check->read.thread && behind.use.at.line == check->read.at.line &&
         behind.use.at.file == check->read.at.file;
}

std::string wait_sentence(const WaitFact& fact) {
  std::string text =
      fmt::format("{} waits {}at {}", fact.wait.thread, object_words(fact), shared_line(fact.wait));
  if (fact.taken) {
    text += fact.holder == fact.wait.thread
                ? fmt::format(", which it holds itself since {}", shared_line(*fact.taken))
                : fmt::format(", which {} holds since {}", fact.holder, shared_line(*fact.taken));
  } else if (!fact.holder.empty()) {
    text += fmt::format(", for which it needs {} to continue", fact.holder);
  } else if (fact.wait.call.contains("barrier")) {
    text += ", and too few threads come there";
  } else if (fact.for_descriptor) {
    if (fact.signal)
      text += fmt::format(
          ", and the last that another thread has written there came {}: by {} at {}",
          fact.before ? "before" : "since", fact.signal->thread, shared_line(*fact.signal));
  } else if (fact.signal && fact.before) {
    text += fmt::format(", but the last signal that could have woken it came before: by {} at {}",
                        fact.signal->thread, shared_line(*fact.signal));
  } else if (fact.signal && fact.woken) {
    text += fmt::format(", and the signal of {} at {} has woken {} instead, which waited at {}",
                        fact.signal->thread, shared_line(*fact.signal), fact.woken->thread,
                        shared_line(*fact.woken));
  } else if (fact.signal) {
    text += fmt::format(", and the signal of {} at {} has not woken it", fact.signal->thread,
                        shared_line(*fact.signal));
  } else {
    text += ", and no call that could have woken it was seen";
  }
  return text;
}

// The failing run reads an earlier value of the same line.
const char* once_more(const Cause& cause) {
  const auto& source = cause.failing_source;
  return source && source->what != CauseEvent::What::kNothing &&
                 source->at.line == cause.passing_source->at.line &&
                 source->thread == cause.passing_source->thread
             ? " once more"
             : "";
}

std::string result_text(const std::string& value) {
  return value.empty() ? "does not return" : "returns " + printable(value);
}

std::string let_go_text(const Cause& cause) {
  if (!cause.let_go) return "";
  if (cause.created)
    return fmt::format(", and after {} has created it at {}", cause.let_go->thread,
                       shared_line(*cause.let_go));
  return fmt::format(", and after {} has let it come there at {}", cause.let_go->thread,
                     shared_line(*cause.let_go));
}

// Two things that one writes in two steps, and of which another sees the one new and the other old.
std::string halves_sentence(const Cause& cause) {
  const bool later = cause.beside_missed;  // `beside` is the old one
  const auto& missed = later ? cause.beside : cause.passing_source;
  const CauseEvent& written = later ? *cause.failing_source : *cause.beside;
  const auto name = [](const std::string& variable) {
    return variable.empty() ? "other memory" : quoted(variable);
  };
  const std::string fresh = name(later ? cause.variable : cause.beside_variable);
  const std::string old = name(later ? cause.beside_variable : cause.variable);
  return fmt::format(
      "{} sees {} new, at {}, and {} old, at {}: {} writes the one at {}{} the other only later, "
      "at {}{}",
      cause.use.thread, fresh, shared_line(later ? cause.use : *cause.beside_read), old,
      shared_line(later ? *cause.beside_read : cause.use), written.thread, shared_line(written),
      cause.released
          ? fmt::format(", releases the lock at {} and writes", shared_line(*cause.released))
          : " and",
      shared_line(*missed),
      cause.let_go ? fmt::format(", after it has let {} come there at {}", cause.use.thread,
                                 shared_line(*cause.let_go))
                   : "");
}

// "reads it at a.cc:3 and writes it at a.cc:4"
std::string two_accesses_text(const CauseEvent& earlier, const CauseEvent& later) {
  const std::string first = shared_line(earlier);
  const std::string second = shared_line(later);
  if (first != second)
    return fmt::format("{} it at {} and {} it at {}", verb(earlier.what), first, verb(later.what),
                       second);
  if (earlier.what == later.what) return fmt::format("{} it twice at {}", verb(later.what), first);
  return fmt::format("{} and {} it at {}", verb(earlier.what), verb(later.what), first);
}

std::string there_text(CallOutcome::There there, const char* other) {
  switch (there) {
    case CallOutcome::There::kSame:
      return "; in the passing run as well";
    case CallOutcome::There::kOther:
      return fmt::format("; in the passing run it {}", other);
    case CallOutcome::There::kNotSeen:
      break;
  }
  return "";
}

std::string outcome_sentence(const Cause& cause) {
  const CallOutcome& outcome = *cause.outcome;
  const CauseEvent& call = cause.use;
  const std::string object =
      outcome.object.empty() ? "" : fmt::format(" for `{}`", printable(outcome.object));
  const std::string looked =
      outcome.looked_at.empty() ? "what it waits for" : quoted(outcome.looked_at);
  switch (outcome.kind) {
    case OutcomeKind::kTry:
      return fmt::format("`{}` of {}{} at {} fails{}{}", printable(call.call), call.thread, object,
                         shared_line(call),
                         outcome.by_chance
                             ? std::string(" although nobody has the lock")
                             : fmt::format(", as {} has held the lock since {}",
                                           outcome.holder->thread, shared_line(*outcome.holder)),
                         there_text(outcome.in_passing, "succeeds"));
    case OutcomeKind::kExchange:
      return fmt::format("the weak compare-exchange of {}{} at {} fails spuriously{}", call.thread,
                         outcome.object.empty() ? "" : " of " + quoted(outcome.object),
                         shared_line(call), there_text(outcome.in_passing, "does not"));
    case OutcomeKind::kWakeUp:
      return fmt::format(
          "the wait of {}{} at {} ends without a signal{}{}", call.thread, object,
          shared_line(call),
          outcome.looked ? fmt::format(", and {} does not look at {} again", call.thread, looked)
                         : std::string(),
          there_text(outcome.in_passing, "does not"));
    case OutcomeKind::kTimeOut:
      return fmt::format("the wait of {}{} at {} times out{}", call.thread, object,
                         shared_line(call), there_text(outcome.in_passing, "does not"));
    case OutcomeKind::kStale:
      return fmt::format(
          "{} returns from its wait at {} and does not look at {} again, which {} has {} at {} "
          "since the signal",
          call.thread, shared_line(call), looked, outcome.change->thread,
          outcome.change->what == CauseEvent::What::kUpdates ? "updated" : "written",
          shared_line(*outcome.change));
  }
  return "";
}

std::string cause_sentence(const Cause& cause) {
  if (cause.outcome) return outcome_sentence(cause);
  if (cause.beside) return halves_sentence(cause);
  const std::string what = object_of(cause);
  const CauseEvent& use = cause.use;
  switch (cause.pattern) {
    case CausePattern::kTooEarly:
      if (cause.omitted)
        return fmt::format(
            "{} {} {} at {} without what {} has {} at {} in the passing run: the failing run does "
            "not come to that",
            use.thread, verb(use.what), what, shared_line(use), cause.passing_source->thread,
            participle(cause.passing_source->what), shared_line(*cause.passing_source));
      return fmt::format("{} {} {} at {} before {} has {} it{} at {}{}", use.thread, verb(use.what),
                         what, shared_line(use), cause.passing_source->thread,
                         participle(cause.passing_source->what), once_more(cause),
                         shared_line(*cause.passing_source), let_go_text(cause));
    case CausePattern::kOverwritten:
      return fmt::format("{} {} {} at {} after {} has {} it at {}", use.thread, verb(use.what),
                         what, shared_line(use), cause.failing_source->thread,
                         cause.ending ? "destroyed" : participle(cause.failing_source->what),
                         shared_line(*cause.failing_source));
    case CausePattern::kBetween:
      if (!cause.later_variable.empty()) {
        const std::string later = quoted(cause.later_variable);
        return fmt::format(
            "{} {} {} at {} between two steps of {}, which {} {} at {} and {} {} at {}",
            cause.remote->thread, verb(cause.remote->what), cause.remote_meets_later ? later : what,
            shared_line(*cause.remote), cause.earlier->thread, verb(cause.earlier->what), what,
            shared_line(*cause.earlier), verb(cause.later->what), later, shared_line(*cause.later));
      }
      return fmt::format("{} {} {} at {} between two accesses of {}, which {}",
                         cause.remote->thread, verb(cause.remote->what), what,
                         shared_line(*cause.remote), cause.earlier->thread,
                         two_accesses_text(*cause.earlier, *cause.later));
    case CausePattern::kUseAfterFree:
      if (cause.descriptor)
        return fmt::format("{} calls `{}` for descriptor {}{} at {} after {} has closed {} at {}",
                           use.thread, printable(use.call), *cause.descriptor,
                           cause.variable.empty() ? "" : fmt::format(" ({})", what),
                           shared_line(use), cause.failing_source->thread,
                           cause.other_end ? "the other end of its pipe" : "it",
                           shared_line(*cause.failing_source));
      if (cause.failing_source->what == CauseEvent::What::kDestroys)
        return fmt::format("{} calls `{}` for {} at {} after {} has destroyed it at {}", use.thread,
                           printable(use.call), what, shared_line(use),
                           cause.failing_source->thread, shared_line(*cause.failing_source));
      if (cause.failing_source->what == CauseEvent::What::kLeaves)
        return fmt::format("{} {} a local variable of `{}` at {} after {} has left it at {}",
                           use.thread, verb(use.what), printable(cause.failing_source->at.function),
                           shared_line(use), cause.failing_source->thread,
                           shared_line(*cause.failing_source));
      return fmt::format("{} {} {} at {} after {} has freed that memory at {}", use.thread,
                         verb(use.what), what, shared_line(use), cause.failing_source->thread,
                         shared_line(*cause.failing_source));
    case CausePattern::kResult:
      return fmt::format("`{}` {} for {} at {}; in the passing run it {}", printable(use.call),
                         result_text(use.value), use.thread, shared_line(use),
                         result_text(cause.passing_value));
    case CausePattern::kWaitsForever:
      return wait_sentence(cause.waits.front());
    default:
      return "";
  }
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
        "before it times out",
        kind_words(explanation.cause.kind), wait->thread, shared_line(*wait), sentence);
  else if (wait)
    return fmt::format("{}: the wait of {} at {} times out; in the passing run it does not",
                       kind_words(explanation.cause.kind), wait->thread, shared_line(*wait));
  return fmt::format("{}: {}", kind_words(explanation.cause.kind), sentence);
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
  } else {
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
