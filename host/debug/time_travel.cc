#include "host/debug/time_travel.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "host/target/slurp.h"

namespace clew::debug {
namespace {

// Single steps from one event to the next before it is given up: half a minute or so.
constexpr std::uint64_t kMostSteps = 10'000'000;
// A countdown that never runs out: no point is passed.
constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;

// The code of clew's runtime in a process.
void find_runtime(pid_t pid, std::uint64_t& begin, std::uint64_t& end) {
  begin = end = 0;
  const std::string maps = slurp(fmt::format("/proc/{}/maps", pid));
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t line_end = std::min(maps.find('\n', at), maps.size());
    const char* const text = maps.c_str() + at;
    const std::string_view line(text, line_end - at);
    at = line_end + 1;
    if (!line.ends_with("/libclew_rt.so") || line.find(" r-x") == std::string_view::npos) continue;
    const char* const text_end = text + line.size();
    const auto dash = std::from_chars(text, text_end, begin, 16);
    if (dash.ptr != text_end) std::from_chars(dash.ptr + 1, text_end, end, 16);
    return;
  }
}

// Neither an address nor a small number. What setjmp() stores is mangled by a number that is another
// one each time that the program is started.
bool may_be_mangled(std::uint64_t value) {
  const std::uint64_t high = value >> 48;
  return high != 0 && high != 0xffff;
}

std::span<std::uint8_t> bytes_of(std::span<std::uint64_t> words) {
  return {reinterpret_cast<std::uint8_t*>(words.data()), words.size_bytes()};
}

}  // namespace

Result<void> TimeTravel::restart(std::uint64_t clock) {
  if (run_) {
    const Shown shown = run_->end();
    for (std::size_t i = 0; i < shown.size(); ++i) shown_[i] = std::max(shown_[i], shown[i]);
  }
  run_.reset();
  at_end_ = tampered_ = diverted_ = false;
  pending_signal_ = 0;
  place_.reset();
  moment_.reset();
  CLEW_TRY(run_, Incarnation::start(replay_, clock, shown_));
  const auto stop = tracee().wait();
  if (!stop || stop->kind != Stop::Kind::kRuntime)
    return fail(ErrorCode::kInternal, "the program did not stop where it begins");
  table_ = stop->table;
  find_runtime(tracee().pid(), runtime_begin_, runtime_end_);
  return {};
}

Result<void> TimeTravel::begin() {
  CLEW_CHECK_OK(restart(0));
  arrived({.kind = Arrival::Kind::kStep});
  place_ = Place{};
  place_->inside = 0;
  return {};
}

// --- what the runtime says

std::uint64_t TimeTravel::clock() {
  const auto field = [&](std::size_t offset) { return tracee().read_number(table_ + offset); };
  std::uint8_t counts = 0;
  tracee().read(field(offsetof(abi::DebugTable, counts)), {&counts, 1});
  if (counts == 0) return tracee().read_number(field(offsetof(abi::DebugTable, settled)));
  const auto countdown = static_cast<std::int64_t>(
      tracee().read_number(tracee().read_number(field(offsetof(abi::DebugTable, countdown)))));
  // Below 0: points were taken off that are not passed yet.
  return tracee().read_number(field(offsetof(abi::DebugTable, limit))) - 1 -
         static_cast<std::uint64_t>(std::max<std::int64_t>(countdown, 0));
}

std::uint64_t TimeTravel::current() {
  return tracee().read_number(table_ + offsetof(abi::DebugTable, current));
}

std::vector<abi::DebugThread> TimeTravel::threads() {
  const std::uint64_t count = std::min<std::uint64_t>(
      tracee().read_number(table_ + offsetof(abi::DebugTable, count)), abi::kMaxDebugThreads);
  std::vector<abi::DebugThread> result(count);
  tracee().read(table_ + offsetof(abi::DebugTable, threads),
                {reinterpret_cast<std::uint8_t*>(result.data()), count * sizeof(abi::DebugThread)});
  for (abi::DebugThread& thread : result) thread.id[sizeof thread.id - 1] = '\0';
  return result;
}

std::string TimeTravel::failure() {
  std::array<char, abi::kMaxDebugFailure> text{};
  tracee().read(table_ + offsetof(abi::DebugTable, failure),
                {reinterpret_cast<std::uint8_t*>(text.data()), text.size() - 1});
  return text.data();
}

// --- moments

TimeTravel::Moment TimeTravel::moment() {
  Moment result{.clock = clock(), .registers = tracee().registers(), .stack = {}};
  tracee().read(result.registers.rsp, bytes_of(result.stack));
  return result;
}

// Registers that a call may leave in any state can differ behind one of the runtime, which did a
// little more or less: a likeness.
TimeTravel::Likeness TimeTravel::compare(const Moment& moment) {
  const user_regs_struct& now = tracee().registers();
  const user_regs_struct& then = moment.registers;
  const auto kept = [](const user_regs_struct& r) {
    return std::array{r.rip, r.rsp, r.rbp, r.rbx, r.r12, r.r13, r.r14, r.r15, r.fs_base};
  };
  const auto others = [](const user_regs_struct& r) {
    return std::array{r.rax, r.rcx, r.rdx, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11};
  };
  if (now.rip != then.rip || kept(now) != kept(then)) return Likeness::kNone;
  std::array<std::uint64_t, std::tuple_size_v<decltype(moment.stack)>> stack{};
  tracee().read(now.rsp, bytes_of(stack));
  const bool same_stack =
      std::ranges::equal(stack, moment.stack, [](std::uint64_t a, std::uint64_t b) {
        return a == b || (may_be_mangled(a) && may_be_mangled(b));
      });
  if (!same_stack) return Likeness::kNone;
  return others(now) == others(then) ? Likeness::kSame : Likeness::kAlike;
}

Arrival TimeTravel::arrived(Arrival arrival) {
  if (arrival.kind == Arrival::Kind::kLost) return arrival;
  if (!diverted_) moment_ = moment();
  return arrival;
}

Arrival TimeTravel::lost(std::string problem) {
  problem_ = std::move(problem);
  place_.reset();
  moment_.reset();
  if (run_ && !tracee().ended()) moment_ = moment();
  return {.kind = Arrival::Kind::kLost};
}

// Stays where it was.
Arrival TimeTravel::give_up(const Place& place) {
  const std::string problem = std::exchange(problem_, {});
  const Arrival arrival = arrive_at(place, {.kind = Arrival::Kind::kStep});
  problem_ = problem;
  return arrival;
}

// --- to a place

// To where the event is about to be counted. 0: to the beginning.
bool TimeTravel::seek(std::uint64_t clock) {
  if (const auto started = restart(clock); !started) {
    problem_ = started.error().message;
    return false;
  }
  if (clock == 0) return true;
  tracee().set_breakpoints({});
  for (int signal = 0;;) {
    tracee().resume(signal);
    const auto stop = tracee().wait();
    signal = stop->kind == Stop::Kind::kSignal ? stop->signal : 0;
    if (stop->kind == Stop::Kind::kEnded) break;
    if (stop->kind != Stop::Kind::kRuntime) continue;
    if (stop->runtime_stop == static_cast<std::uint64_t>(abi::DebugStop::kClock)) return true;
    if (stop->runtime_stop == static_cast<std::uint64_t>(abi::DebugStop::kEnding)) {
      at_end_ = true;
      break;
    }
  }
  problem_ = fmt::format("the run ended before clock {}", clock);
  return false;
}

// One instruction of whatever is executed; a system call that the runtime handles is one.
Stop TimeTravel::raw_step(int signal) {
  Stop stop = tracee().step(signal);
  // The runtime's own timer looks for threads that are stuck; here it would find nothing but steps.
  while (stop.kind == Stop::Kind::kSignal && stop.by_timer) stop = tracee().step();
  if (stop.kind != Stop::Kind::kSignal || stop.signal != SIGSYS) return stop;
  const user_regs_struct behind = tracee().registers();
  tracee().set_breakpoints({behind.rip});
  for (int next = SIGSYS;;) {
    tracee().resume(next);
    stop = *tracee().wait();
    next = stop.kind == Stop::Kind::kSignal ? stop.signal : 0;
    const bool back = stop.kind == Stop::Kind::kBreakpoint;
    if (back && tracee().registers().rsp == behind.rsp) return {.kind = Stop::Kind::kStep};
    if (back) {
      stop = tracee().step();  // another thread is there
      next = 0;
    }
    const bool ending = stop.kind == Stop::Kind::kRuntime &&
                        stop.runtime_stop == static_cast<std::uint64_t>(abi::DebugStop::kEnding);
    if (ending || stop.kind == Stop::Kind::kEnded) return stop;
  }
}

// Visits the places from where event `clock` is counted to the next event. At the last visit the
// program has ended, or that event is counted.
void TimeTravel::walk(std::uint64_t clock, const Visit& visit) {
  Walk walk{.at = {.clock = clock}};
  bool outside = false;
  std::uint64_t inside = 0;
  int signal = 0;
  for (std::uint64_t steps = 0; steps < kMostSteps; ++steps) {
    outside = !is_runtime(tracee().registers().rip);
    walk.at.inside = outside ? std::nullopt : std::optional(inside);
    if (!visit(walk)) return;
    walk.watch.reset();
    const Stop stop = raw_step(signal);
    signal = stop.kind == Stop::Kind::kSignal ? stop.signal : 0;
    if (stop.kind == Stop::Kind::kEnded) {
      walk.ended = true;
    } else if (stop.kind == Stop::Kind::kRuntime &&
               stop.runtime_stop == static_cast<std::uint64_t>(abi::DebugStop::kEnding)) {
      walk.ended = at_end_ = true;
    } else if (stop.kind == Stop::Kind::kWatch) {
      walk.watch = stop.watch;
    }
    if (walk.ended) {
      visit(walk);
      return;
    }
    if (outside) {
      ++walk.at.instructions;
      inside = 0;
    } else {
      ++inside;
    }
  }
  problem_ = fmt::format("more than {} instructions without a yield point behind clock {}",
                         kMostSteps, clock);
}

bool TimeTravel::go(const Place& place) {
  if (!seek(place.clock)) return false;
  bool there = false;
  walk(place.clock, [&](const Walk& walk) {
    if (walk.ended) return false;
    there = walk.at.instructions == place.instructions && walk.at.inside == place.inside;
    return !there && walk.at.instructions <= place.instructions;
  });
  if (!there && problem_.empty()) problem_ = "the program could not be brought to that place again";
  return there;
}

// The place of the stop. The program is there again afterwards.
std::optional<Place> TimeTravel::here() {
  if (place_) return place_;
  if (!moment_) return std::nullopt;
  const Moment wanted = *moment_;
  const bool end = at_end_;
  if (!seek(wanted.clock)) return std::nullopt;
  std::optional<Place> found;
  std::optional<Place> alike;
  walk(wanted.clock, [&](const Walk& walk) {
    const Likeness likeness = end || walk.ended ? Likeness::kNone : compare(wanted);
    if (likeness == Likeness::kSame || (end && walk.ended)) found = walk.at;
    if (likeness == Likeness::kAlike && !alike) alike = walk.at;
    return !found && !walk.ended && !is_later(walk, wanted.clock);
  });
  if (!found && alike && go(*alike)) found = alike;
  if (!found) {
    if (problem_.empty()) problem_ = "the program could not be brought to this place again";
    return std::nullopt;
  }
  arrived({.kind = Arrival::Kind::kStep});
  place_ = found;
  return found;
}

Arrival TimeTravel::arrive_at(const Place& place, Arrival arrival) {
  if (!go(place)) return lost(problem_);
  arrival = arrived(arrival);
  place_ = place;
  return arrival;
}

// --- what the debugger did to the program

// Back to the stop, as it was.
bool TimeTravel::undo() {
  const std::optional<Place> place = place_;
  if (!place) return here().has_value();
  if (!go(*place)) return false;
  arrived({.kind = Arrival::Kind::kStep});
  place_ = place;
  return true;
}

// Before the program continues. Makes sure that it continues as recorded, or is in a call that the
// debugger makes, which does not count.
std::optional<Arrival> TimeTravel::prepare() {
  problem_.clear();
  if (!tampered_ && !diverted_) return std::nullopt;
  if (!moment_) return lost("the program is not at a place of the recording: clew goto CLOCK");
  // A call that has come to its end without a return is over.
  const bool over = diverted_ && at_end_;
  if (over) at_end_ = false;
  const bool elsewhere = !over && tracee().registers().rip != moment_->registers.rip;
  if (elsewhere) {
    diverted_ = true;
    const std::uint64_t countdown =
        tracee().read_number(tracee().read_number(table_ + offsetof(abi::DebugTable, countdown)));
    tracee().write(countdown,
                   {reinterpret_cast<const std::uint8_t*>(&kUnlimited), sizeof kUnlimited});
    return std::nullopt;
  }
  if (!undo()) return lost(problem_);
  problem_ = "what gdb changed is undone, and the replay continues as recorded";
  return std::nullopt;
}

// --- forward

// Nothing: continue, with `signal`.
std::optional<Arrival> TimeTravel::arrival_of(const Stop& stop, int& signal) {
  signal = 0;
  switch (stop.kind) {
    case Stop::Kind::kStep:
      return Arrival{.kind = Arrival::Kind::kStep};
    case Stop::Kind::kBreakpoint:
      return Arrival{.kind = Arrival::Kind::kBreakpoint};
    case Stop::Kind::kWatch:
      return Arrival{.kind = Arrival::Kind::kWatch, .watch = stop.watch};
    case Stop::Kind::kRuntime:
      if (stop.runtime_stop != static_cast<std::uint64_t>(abi::DebugStop::kEnding))
        return std::nullopt;
      at_end_ = true;
      return Arrival{.kind = Arrival::Kind::kEnd};
    case Stop::Kind::kSignal:
      signal = stop.signal;
      if (signal == SIGSYS || stop.by_timer || quiet_signals.contains(signal)) return std::nullopt;
      pending_signal_ = signal;
      return Arrival{.kind = Arrival::Kind::kSignal, .signal = stop.signal};
    case Stop::Kind::kInterrupt:
      return Arrival{.kind = Arrival::Kind::kInterrupted};
    case Stop::Kind::kEnded:
      break;
  }
  return lost("the program has ended");
}

Stop TimeTravel::wait_or_interrupt() {
  if (auto stop = tracee().wait(interrupting_)) return *stop;
  std::array<char, 256> ignored;
  static_cast<void>(read(interrupting_, ignored.data(), ignored.size()));
  tracee().interrupt();
  return *tracee().wait();
}

void TimeTravel::leave_runtime() {
  for (std::uint64_t i = 0; i < kMostSteps && is_runtime(tracee().registers().rip); ++i) {
    const Stop stop = raw_step(0);
    if (stop.kind == Stop::Kind::kRuntime &&
        stop.runtime_stop == static_cast<std::uint64_t>(abi::DebugStop::kEnding))
      at_end_ = true;
    if (at_end_ || stop.kind == Stop::Kind::kEnded) return;
  }
}

Arrival TimeTravel::resume() {
  if (auto arrival = prepare()) return *arrival;
  int signal = diverted_ ? 0 : std::exchange(pending_signal_, 0);
  if (at_end_) return {.kind = Arrival::Kind::kEnd};
  place_.reset();
  tracee().set_breakpoints(breakpoints);
  if (!tracee().set_watches(watches)) problem_ = "the processor has no room for these watchpoints";
  for (;;) {
    tracee().resume(signal);
    auto arrival = arrival_of(wait_or_interrupt(), signal);
    if (!arrival) continue;
    if (arrival->kind == Arrival::Kind::kInterrupted) leave_runtime();
    return arrived(*arrival);
  }
}

Arrival TimeTravel::step(std::uint64_t thread, Range range) {
  if (auto arrival = prepare()) return *arrival;
  int signal = diverted_ ? 0 : std::exchange(pending_signal_, 0);
  if (at_end_) return {.kind = Arrival::Kind::kEnd};
  place_.reset();
  if (!tracee().set_watches(watches)) problem_ = "the processor has no room for these watchpoints";
  if (!diverted_ && current() != thread) {
    const auto all = threads();
    if (thread >= all.size()) return lost("there is no such thread");
    auto stops = breakpoints;
    stops.insert(all[thread].instruction);
    tracee().set_breakpoints(stops);
    for (;;) {
      tracee().resume(signal);
      auto arrival = arrival_of(wait_or_interrupt(), signal);
      if (!arrival) continue;
      const std::uint64_t at = tracee().registers().rip;
      const bool own = arrival->kind == Arrival::Kind::kBreakpoint && !breakpoints.contains(at);
      if (!own) return arrived(*arrival);
      if (tracee().registers().rsp == all[thread].stack) break;
      tracee().step();
    }
    leave_runtime();
    return arrived({.kind = at_end_ ? Arrival::Kind::kEnd : Arrival::Kind::kStep});
  }
  for (;;) {
    std::optional<Arrival> arrival = arrival_of(raw_step(signal), signal);
    if (!arrival) continue;
    const std::uint64_t at = tracee().registers().rip;
    const bool inside = at >= range.begin && at < range.end;
    if (arrival->kind != Arrival::Kind::kStep || !inside || breakpoints.contains(at))
      return arrived(*arrival);
  }
}

}  // namespace clew::debug
