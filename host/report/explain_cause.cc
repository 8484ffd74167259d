#include "host/report/explain_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/report/explain_details.h"
#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
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

namespace {

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

}  // namespace

std::string origin_text(const std::optional<CauseEvent>& source) {
  if (!source) return "";
  if (source->what == CauseEvent::What::kNothing) return ", as it was at the start";
  if (source->what == CauseEvent::What::kCalls)
    return fmt::format(", which {} left there by `{}` at {}", source->thread,
                       printable(source->call), cause_line(source->at));
  return fmt::format(", {} by {} at {}", participle(source->what), source->thread,
                     cause_line(source->at));
}

namespace {

// Of what was there before an update.
std::string was_text(const std::optional<CauseEvent>& source) {
  if (!source) return "";
  if (source->what == CauseEvent::What::kNothing) return " from what was there at the start";
  if (source->what == CauseEvent::What::kCalls)
    return fmt::format(" from what {} left there by `{}` at {}", source->thread,
                       printable(source->call), cause_line(source->at));
  return " from what was" + origin_text(source).substr(1);
}

}  // namespace

std::string values_text(const Cause& cause) {
  if (cause.use.value.empty() || cause.passing_value.empty()) return "";
  // What lies in memory that was freed is the allocator's.
  if (cause.failing_source && cause.failing_source->what == CauseEvent::What::kFrees) return "";
  // Two objects that have the same name: nothing is told by it.
  if (cause.use.value == cause.passing_value &&
      origin_text(cause.failing_source) == origin_text(cause.passing_source))
    return "";
  // Of two that have the same name their origins tell more.
  const bool same = cause.use.value == cause.passing_value;
  const std::string passing_value = same ? "another" : printable(cause.passing_value);
  // Of two variables that are told, which one is meant.
  const std::string& of = cause.beside ? cause.variable : cause.use_variable;
  // What the other run's compare-exchange makes is not what it has found.
  if (cause.use.what == CauseEvent::What::kFailsToUpdate)
    return wrapped(fmt::format("{} finds {}{}.", cause.use.thread, printable(cause.use.value),
                               origin_text(cause.failing_source)),
                   "  ");
  const std::string about = of.empty() ? "" : "Of " + quoted(of) + ", ";
  // The value of an update is what it makes, and where it comes from is what it was made of.
  if (cause.use.what == CauseEvent::What::kUpdates)
    return wrapped(
        fmt::format("{}{} changes it to {}{}; in the passing run{}{}.", about, cause.use.thread,
                    printable(cause.use.value), was_text(cause.failing_source),
                    same ? std::string() : " to " + passing_value, was_text(cause.passing_source)),
        "  ");
  return wrapped(
      fmt::format("{}{} reads {}{}; in the passing run it reads {}{}.", about, cause.use.thread,
                  printable(cause.use.value), origin_text(cause.failing_source), passing_value,
                  origin_text(cause.passing_source)),
      "  ");
}

namespace {

std::string lock_list(const std::vector<HeldLock>& locks) {
  if (locks.empty()) return "no lock";
  std::string text;
  for (const HeldLock& lock : locks)
    text += (text.empty() ? "" : " and ") +
            (lock.name.empty() ? "a lock" : fmt::format("`{}`", printable(lock.name))) +
            (lock.shared ? " for reading" : "");
  return text;
}

}  // namespace

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

namespace {

// The C++ library waits by the system call itself, in functions of its own.
std::string object_words(const WaitFact& fact) {
  if (!fact.object.empty()) return fmt::format("for `{}` ", printable(fact.object));
  return fact.wait.call == "syscall" ? "" : fmt::format("in `{}` ", printable(fact.wait.call));
}

}  // namespace

std::string wait_sentence(const WaitFact& fact) {
  std::string text =
      fmt::format("{} waits {}at {}", fact.wait.thread, object_words(fact), shared_line(fact.wait));
  if (fact.renewed) {
    text += fmt::format(", which {} has initialised again since, at {}", fact.renewed->thread,
                        shared_line(*fact.renewed));
  } else if (fact.taken) {
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
  } else if (fact.wait.call.ends_with("lock")) {
    text += ", and no thread that holds it was seen";
  } else {
    text += ", and no call that could have woken it was seen";
  }
  return text;
}

namespace {

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
  const auto name = [](const std::string& variable, const std::string& memory) {
    if (!variable.empty()) return quoted(variable);
    return memory.empty() ? "other memory" : printable(memory);
  };
  const std::string own = name(cause.variable, cause.memory);
  const std::string beside = name(cause.beside_variable, cause.beside_memory);
  const std::string& fresh = later ? own : beside;
  const std::string& old = later ? beside : own;
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

std::string race_sentence(const Cause& cause) {
  const CauseEvent& first = *cause.earlier;
  return fmt::format(
      "{} {} {} at {}, and {} {} it at {}; no lock, wait or atomic operation orders the two",
      first.thread, verb(first.what), object_of(cause), shared_line(first), cause.use.thread,
      verb(cause.use.what), shared_line(cause.use));
}

// "T0.1 takes `b` at a.cc:3 while it holds `a`, and T0.2 takes `a` at a.cc:9 while it holds `b`"
std::string lock_order_sentence(const Cause& cause) {
  std::string text;
  for (const WaitFact& fact : cause.waits) {
    if (!text.empty()) text += &fact == &cause.waits.back() ? ", and " : ", ";
    text += fmt::format("{} takes {} at {} while it holds {}", fact.wait.thread,
                        fact.object.empty() ? "a lock" : quoted(fact.object),
                        shared_line(fact.wait), lock_list(fact.wait.locks));
  }
  return text;
}

}  // namespace

std::string found_text(const Cause& cause) {
  if (cause.pattern == CausePattern::kRace) {
    if (cause.earlier->locks.empty() && cause.use.locks.empty()) return "  Neither holds a lock.\n";
    const std::string first = lock_list(cause.earlier->locks);
    const std::string second = lock_list(cause.use.locks);
    return wrapped(fmt::format("{} holds {} there, {} {}.", cause.earlier->thread, first,
                               cause.use.thread, second),
                   "  ");
  }
  if (cause.pattern == CausePattern::kLockOrder)
    return wrapped(
        "If each has its first lock, none of them gets the next. This run did not come to that.",
        "  ");
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
      if (!cause.later_variable.empty() && cause.later_variable == cause.variable &&
          cause.earlier->what == cause.later->what)
        return fmt::format("{} {} {} at {} between two steps of {}, which {} parts of it at {}{}",
                           cause.remote->thread, verb(cause.remote->what), what,
                           shared_line(*cause.remote), cause.earlier->thread,
                           verb(cause.later->what), shared_line(*cause.earlier),
                           shared_line(*cause.earlier) == shared_line(*cause.later)
                               ? std::string()
                               : " and at " + shared_line(*cause.later));
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
    case CausePattern::kRace:
      return race_sentence(cause);
    case CausePattern::kLockOrder:
      return lock_order_sentence(cause);
    case CausePattern::kReported:
      return fmt::format(
          "{}{}", printable(cause.reported),
          use.at.line == 0 ? "" : fmt::format(", {} at {}", use.thread, shared_line(use)));
    default:
      return "";
  }
}

}  // namespace clew
