// Back in time, and to a clock: the program is started again and replayed to the place.
#include "host/debug/time_travel.h"

namespace clew::debug {

Arrival TimeTravel::to_beginning() {
  if (!seek(0)) return lost(problem_);
  tracee().set_breakpoints({});
  for (int signal = 0;;) {
    tracee().resume(signal);
    const auto stop = tracee().wait();
    signal = stop->kind == Stop::Kind::kSignal ? stop->signal : 0;
    if (stop->kind == Stop::Kind::kEnded) return lost("the program has ended");
    if (stop->kind == Stop::Kind::kRuntime &&
        stop->runtime_stop != static_cast<std::uint64_t>(abi::DebugStop::kStarted))
      break;
  }
  leave_runtime();
  return arrived({.kind = Arrival::Kind::kBeginning});
}

// Whether the next event is counted: the clock only changes inside the runtime.
bool TimeTravel::is_later(const Walk& walk, std::uint64_t clock) {
  return !walk.at.inside && this->clock() > clock;
}

Arrival TimeTravel::step_back(std::uint64_t thread) {
  if (auto arrival = prepare()) return *arrival;
  const auto now = here();
  if (!now) return lost(problem_);
  const auto known = threads();
  const std::uint64_t parked_at = thread < known.size() ? known[thread].parked_at : 0;
  // The last place of the thread before now: since this event, the one before, and so on; or
  // before it was last parked.
  for (std::uint64_t clock = now->clock;;) {
    std::optional<Place> last;
    if (!seek(clock)) return give_up(*now);
    const bool ran = current() == thread;
    const bool exists = thread < threads().size();
    walk(clock, [&](const Walk& walk) {
      if (walk.ended || walk.at == *now || is_later(walk, clock)) return false;
      if (!walk.at.inside && current() == thread) last = walk.at;
      return true;
    });
    if (!problem_.empty()) return give_up(*now);
    if (last) return arrive_at(*last, {.kind = Arrival::Kind::kStep});
    if (clock == 0 || !exists) return arrive_at(*now, {.kind = Arrival::Kind::kBeginning});
    clock = !ran && parked_at < clock ? parked_at : clock - 1;
  }
}

// The last clock before `before` at which something would have stopped the program.
std::optional<std::uint64_t> TimeTravel::last_clock_with_hit(std::uint64_t before) {
  std::optional<std::uint64_t> result;
  if (const auto started = restart(before); !started) {
    problem_ = started.error().message;
    return std::nullopt;
  }
  if (before == 0) return std::nullopt;
  tracee().set_breakpoints(breakpoints);
  if (!tracee().set_watches(watches)) problem_ = "the processor has no room for these watchpoints";
  bool at_breakpoint = false;
  for (int signal = 0;;) {
    if (!at_breakpoint) tracee().resume(signal);
    const Stop stop = at_breakpoint ? raw_step(0) : wait_or_interrupt();
    if (at_breakpoint) tracee().set_breakpoints(breakpoints);
    at_breakpoint = stop.kind == Stop::Kind::kBreakpoint;
    signal = stop.kind == Stop::Kind::kSignal ? stop.signal : 0;
    if (stop.kind == Stop::Kind::kEnded || stop.kind == Stop::Kind::kInterrupt) break;
    if (stop.kind == Stop::Kind::kRuntime &&
        stop.runtime_stop >= static_cast<std::uint64_t>(abi::DebugStop::kClock))
      break;
    const bool own = at_breakpoint && is_runtime(tracee().registers().rip);
    if ((at_breakpoint && !own) || stop.kind == Stop::Kind::kWatch) result = clock();
  }
  return result;
}

Arrival TimeTravel::resume_back() {
  if (auto arrival = prepare()) return *arrival;
  const auto now = here();
  if (!now) return lost(problem_);
  Place previous{};
  std::optional<Place> hit;
  Arrival how{.kind = Arrival::Kind::kBreakpoint};
  // The last hit since event `clock`, before `now`.
  const auto look = [&](std::uint64_t clock) {
    if (!seek(clock)) return;
    static_cast<void>(tracee().set_watches(watches));
    walk(clock, [&](const Walk& walk) {
      if (walk.watch) {
        // Before the instruction that triggered it.
        hit = previous;
        how = {.kind = Arrival::Kind::kWatch, .watch = *walk.watch};
      }
      previous = walk.at;
      if (walk.ended || is_later(walk, clock)) return false;
      if (walk.at == *now) return false;
      if (!walk.at.inside && breakpoints.contains(tracee().registers().rip)) {
        hit = walk.at;
        how = {.kind = Arrival::Kind::kBreakpoint};
      }
      return true;
    });
  };
  look(now->clock);
  if (!problem_.empty()) return give_up(*now);
  if (hit) return arrive_at(*hit, how);
  const auto clock = last_clock_with_hit(now->clock);
  if (!problem_.empty()) return give_up(*now);
  if (!clock) return to_beginning();
  // Inside the runtime, where it may change what is watched, the clock may be off by one.
  for (const std::uint64_t candidate : {*clock, *clock + 1, *clock - 1}) {
    if (hit || candidate > now->clock) continue;
    look(candidate);
    if (!problem_.empty()) return give_up(*now);
  }
  if (hit) return arrive_at(*hit, how);
  problem_ = "the last stop before this one could not be found again";
  return give_up(*now);
}

Arrival TimeTravel::go_to(std::uint64_t clock) {
  problem_.clear();
  if (clock == 0) return to_beginning();
  Place place{.clock = clock};
  bool there = false;
  if (!seek(clock)) return lost(problem_);
  walk(clock, [&](const Walk& walk) {
    there = walk.ended || !walk.at.inside;
    place = walk.at;
    return !there;
  });
  if (!there) return lost(problem_);
  const Arrival arrival = arrived({.kind = at_end_ ? Arrival::Kind::kEnd : Arrival::Kind::kStep});
  place_ = place;
  return arrival;
}

}  // namespace clew::debug
