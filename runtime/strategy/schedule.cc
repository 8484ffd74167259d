#include "runtime/strategy/schedule.h"

#include <cstdio>
#include <cstring>

#include "runtime/arena.h"
#include "runtime/record/end.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {

ScheduleStrategy::ScheduleStrategy(const abi::Control& control)
    : control_(control),
      reader_(reinterpret_cast<const std::uint8_t*>(&control) + control.stream_offset,
              control.stream_size),
      full_replay_((control.flags & abi::kFlagReplay) != 0) {
  names_ = static_cast<const char**>(arena_alloc((control.names_count + 1) * sizeof(char*)));
  resolved_ = static_cast<std::uint32_t*>(arena_alloc((control.names_count + 1) * 4));
  const char* name = reinterpret_cast<const char*>(&control) + control.names_offset;
  for (std::uint64_t i = 0; i < control.names_count; ++i, name += strlen(name) + 1)
    names_[i] = name;
  read_next();
}

void ScheduleStrategy::read_next() {
  if (reader_.at_end()) {
    clock_ = kNever;
    return;
  }
  const std::uint64_t head = reader_.varint();
  kind_ = static_cast<abi::EntryKind>(head & 3);
  clock_ = last_clock_ += head >> 2;
  if (kind_ == abi::EntryKind::kSwitchTo) {
    thread_ = reader_.varint();
  } else if (kind_ == abi::EntryKind::kCheck) {
    thread_ = reader_.varint();
    place_ = reader_.varint();
    hash_ = reader_.u16();
  }
  CLEW_CHECK(reader_.ok() && kind_ != abi::EntryKind::kMessage);
}

Clock ScheduleStrategy::next_decision(Clock now) { return clock_ > now ? clock_ : now + 1; }

Decision ScheduleStrategy::decide(Clock event) {
  while (clock_ <= event) {
    // A clock below the event: the points in between were passed inside a no-yield region or
    // the like; the switch takes effect here, at the first chance.
    const abi::EntryKind kind = kind_;
    if (kind == abi::EntryKind::kCheck) {
      compare(event);
      read_next();
      continue;
    }
    const Decision decision = kind == abi::EntryKind::kSwitchTo
                                  ? switch_to(event)
                                  : Decision{Decision::Kind::kNext, nullptr};
    read_next();
    if (decision.kind != Decision::Kind::kStay) return decision;
  }
  return {};
}

void ScheduleStrategy::compare(Clock event) {
  if (!full_replay_) return;
  const Fiber& running = *g_sched.current;
  if (running.index == thread_ && running.place == place_ && g_log.hash16() == hash_) return;
  const char* what = running.index != thread_  ? "another thread runs"
                     : running.place != place_ ? "the thread is at another place"
                                               : "something before this differed";
  end_departed(event, thread_, place_, what);
}

Decision ScheduleStrategy::switch_to(Clock event) {
  const std::uint32_t index = thread_ < control_.names_count ? resolve(thread_) : 0;
  Fiber* fiber = index != 0 ? g_sched.threads[index - 1].fiber : nullptr;
  if (fiber == g_sched.current) return {};
  const bool runnable = fiber != nullptr && (fiber->state == FiberState::kRunnable ||
                                             fiber->state == FiberState::kNotStarted);
  if (runnable) return {Decision::Kind::kTo, fiber};
  if (full_replay_) end_departed(event, index != 0 ? index - 1 : 0, 0, "the thread cannot run");
  const char* why = index == 0 ? "it does not exist yet"
                    : fiber == nullptr || fiber->state == FiberState::kFinished ? "it has ended"
                                                                                : "it is waiting";
  char note[160];
  snprintf(note, sizeof note, "the switch %llu:%s had no effect: %s",
           static_cast<unsigned long long>(event),
           thread_ < control_.names_count ? names_[thread_] : "?", why);
  g_log.note(note);
  return {};
}

// The index + 1 of the thread with this name, 0 if there is none (yet). In a recording the
// names stand in order of creation, so the thread of the same number is tried first.
std::uint32_t ScheduleStrategy::resolve(std::uint64_t name) {
  if (resolved_[name] != 0) return resolved_[name];
  if (name < g_sched.thread_count && g_sched.is_named(name, names_[name]))
    return resolved_[name] = static_cast<std::uint32_t>(name) + 1;
  for (std::uint32_t i = 0; i < g_sched.thread_count; ++i)
    if (g_sched.is_named(i, names_[name])) return resolved_[name] = i + 1;
  return 0;
}

bool ScheduleStrategy::left_over(Clock clock, char* reason, std::size_t size) {
  for (std::uint64_t i = 0; i < control_.names_count && !full_replay_; ++i) {
    if (resolve(i) != 0) continue;
    snprintf(reason, size, "the schedule names thread %s, which the program never creates",
             names_[i]);
    return true;
  }
  // One past the end is the padding of paper 1, section 4.3: it means "after the run".
  while (clock_ != kNever && clock_ <= clock + 1) read_next();
  if (clock_ == kNever) return false;
  if (full_replay_) {
    const bool known = kind_ == abi::EntryKind::kCheck;
    end_departed(clock, known ? thread_ : g_sched.current->index, known ? place_ : 0,
                 "the run ended before its next switch");
  }
  snprintf(reason, size, "the schedule has a switch at clock %llu, but the run ended at clock %llu",
           static_cast<unsigned long long>(clock_), static_cast<unsigned long long>(clock));
  return true;
}

}  // namespace clew::rt
