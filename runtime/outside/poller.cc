#include "runtime/outside/poller.h"

#include <sys/syscall.h>
#include <time.h>

#include "runtime/arena.h"
#include "runtime/keep.h"
#include "runtime/outside/children.h"
#include "runtime/outside/foreign.h"
#include "runtime/outside/in_step.h"
#include "runtime/outside/inputs.h"
#include "runtime/outside/ready.h"
#include "runtime/outside/signal_descriptors.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/record/generation.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/signals.h"

namespace clew::rt {

Poller g_poller;

namespace {

// Points between two polls while threads compute. A poll takes about half a microsecond, this many
// points about a millisecond.
constexpr Clock kPointsBetween = 200'000;
// The times below are chosen, not measured.
//
// How long, in real time, something from outside is waited for before virtual time jumps over a
// deadline: a peer that answers within it is never late.
constexpr Nanos kMostPatience = 2'000'000'000;
// After waiting this long for nothing, there seems to be no peer: virtual time then runs kHaste
// times as fast as real time. A server whose clients are all in the program gets through an hour in
// half a minute.
constexpr Nanos kPatienceInAll = 4'000'000'000;
constexpr Nanos kHaste = 100;
// Child processes live in real time, and so does the program that has started this one.
constexpr Nanos kMostPatienceWithRelatives = 60'000'000'000;
// While the program waits for something from outside, virtual time passes. A wait shorter than this
// takes none, so that runs with the same seed are the same where peers answer at once.
constexpr Nanos kShortWait = 100'000'000;
// After a wait this long the host is told who waits for what: it ends a run that waits much longer.
constexpr Nanos kLongWait = 6'000'000'000;
// The shortest and longest time between two attempts at what cannot be polled.
constexpr Nanos kShortestNap = 200'000;
constexpr Nanos kLongestNap = 10'000'000;
// What one poll can bring; the next brings the rest.
constexpr std::size_t kMaxReady = 4096;
constexpr std::size_t kMaxSignals = 64;

pollfd* g_poll = nullptr;
std::size_t g_poll_room = 0;

pollfd* room_for(std::size_t count) {
  if (count > g_poll_room) {
    g_poll_room = count * 2;
    g_poll = static_cast<pollfd*>(arena_alloc(g_poll_room * sizeof(pollfd)));
  }
  return g_poll;
}

Nanos real_now() {
  timespec t;
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&t));
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

// The first event at which a poll is due is the same in a replay.
void Poller::begin_expecting() {
  if (!expecting()) next_ = g_sched.clock() + kPointsBetween;
}

// The event at which a thread that computes is stopped to look at the outside.
void Poller::tell_scheduler() const { g_sched.poll_at = expecting() ? next_ : kNever; }

void Poller::expect_signals() {
  if (signals_expected_) return;
  begin_expecting();
  signals_expected_ = true;
  tell_scheduler();
  g_sched.look_again();
}

Woke Poller::wait(OutsideWait& wait, Nanos deadline, unsigned ended_by) {
  begin_expecting();
  OutsideWait** end = &waits_;
  while (*end != nullptr) end = &(*end)->next;
  *end = &wait;
  tell_scheduler();
  wait.wait.outside = true;
  const Woke woke = g_sched.block(wait.wait, deadline, ended_by);
  forget(wait);
  return woke;
}

void Poller::forget(OutsideWait& wait) {
  for (OutsideWait** slot = &waits_; *slot != nullptr; slot = &(*slot)->next) {
    if (*slot != &wait) continue;
    *slot = wait.next;
    break;
  }
  tell_scheduler();
}

bool Poller::signal_is_waited_for(Senders senders) const {
  bool found = false;
  if (signals_expected_)
    g_sched.threads.for_each_living([&](const Fiber& fiber) {
      found |= fiber.wait_kind() == abi::WaitKind::kSignal &&
               (senders == Senders::kOtherProcesses || may_be_sent_from_outside(fiber));
    });
  return found;
}

bool Poller::all_inside() const {
  for (const OutsideWait* w = waits_; w != nullptr; w = w->next)
    if (!w->inside) return false;
  return true;
}

// `fds` are those of all waits, in their order.
void Poller::find_ready_waits(pollfd* fds, std::size_t count, const timespec& timeout) const {
  static constexpr timespec kNow{0, 0};
  if (CLEW_LIKELY(!signals_differ_by_thread())) {
    show_signals_to(*g_sched.current);
    find_ready(fds, count, timeout, LetsIn::kSignals);
    return;
  }
  // Each wait sees the signals of its own thread. No other signal is sent while the kernel is
  // waited for after that.
  bool any = false;
  std::size_t at = 0;
  for (const OutsideWait* w = waits_; w != nullptr; at += w->count, w = w->next) {
    show_signals_to(*w->wait.fiber);
    find_ready(fds + at, w->count, kNow, LetsIn::kSignals);
    for (nfds_t i = 0; i < w->count; ++i) any |= fds[at + i].revents != 0;
  }
  if (any) return;
  show_signals_to_nobody();
  find_ready(fds, count, timeout, LetsIn::kSignals);
}

// Polls the kernel, for at most the given time, and wakes the threads whose wait has ended.
bool Poller::look(std::uint64_t number, const timespec* timeout, const Waiting* waiting) {
  std::size_t count = 0;
  for (const OutsideWait* w = waits_; w != nullptr; w = w->next) count += w->count;
  pollfd* fds = room_for(count);
  std::size_t at = 0;
  for (const OutsideWait* w = waits_; w != nullptr; w = w->next)
    for (nfds_t i = 0; i < w->count; ++i) fds[at++] = w->fds[i];
  const bool naps = timeout->tv_sec != 0 || timeout->tv_nsec != 0;
  if (count > 0 || naps) find_ready_waits(fds, count, *timeout);
  static std::uint32_t ready[kMaxReady];
  std::size_t ready_count = 0;
  at = 0;
  for (OutsideWait* w = waits_; w != nullptr; w = w->next) {
    bool is_ready = false;
    for (nfds_t i = 0; i < w->count; ++i) is_ready |= fds[at++].revents != 0;
    // A wait that has ended stays in the list until its thread runs; an attempt that has succeeded
    // must not be repeated.
    if (w->wait.over() || ready_count == kMaxReady) continue;
    if (!is_ready && w->try_again != nullptr) is_ready = w->try_again(*w);
    if (!is_ready) continue;
    ready[ready_count++] = w->wait.fiber->index;
    g_sched.wake(w->wait);
  }
  static siginfo_t signals[kMaxSignals];
  const std::size_t signals_count = take_arrived(signals, kMaxSignals);
  if (ready_count == 0 && signals_count == 0) return false;
  Nanos waited = waiting == nullptr ? 0
                 : keeps_in_step()  ? behind_real_time()
                                    : real_now() - waiting->begin;
  if (waited < kShortWait) waited = 0;
  if (waiting != nullptr && waited > waiting->most) waited = waiting->most;
  if (g_inputs.recording())
    g_inputs.put_poll(number, waited, ready, ready_count, signals, signals_count);
  g_sched.pass_idle_time(waited);
  for (std::size_t i = 0; i < signals_count; ++i) post_from_outside(signals[i]);
  return true;
}

// Nothing came, but it took longer than the virtual time until then: `behind` passes.
bool Poller::catches_up(std::uint64_t number) {
  if (!keeps_in_step()) return false;
  const Nanos behind = behind_real_time();
  if (behind < kShortWait) return false;
  g_inputs.put_poll(number, behind, nullptr, 0, nullptr, 0);
  g_sched.pass_idle_time(behind);
  return true;
}

bool Poller::replay(std::uint64_t number) {
  Nanos waited = 0;
  if (!g_inputs.take_poll(number, waited)) return false;
  g_sched.pass_idle_time(waited);
  std::uint32_t index = 0;
  while (g_inputs.take_polled_thread(index)) {
    for (OutsideWait* w = waits_; w != nullptr; w = w->next) {
      if (w->wait.fiber->index != index || w->wait.over()) continue;
      g_sched.wake(w->wait);
      break;
    }
  }
  siginfo_t info;
  while (g_inputs.take_polled_signal(info)) post_from_outside(info);
  return true;
}

void Poller::poll() {
  // Nothing can have come but a signal that the last call has caused.
  if (!expecting() && !g_inputs.replaying() && CLEW_LIKELY(!any_arrived())) return;
  const std::uint64_t number = expecting() ? ++polls_ : kUnexpected;
  static constexpr timespec kNow{0, 0};
  if (g_inputs.replaying()) {
    replay(number);
  } else {
    look(number, &kNow);
  }
}

void Poller::poll_at(Clock event) {
  next_ = event + kPointsBetween;
  tell_scheduler();
  poll();
}

void Poller::poll_while_stuck() {
  constexpr std::uint64_t kWhileStuck = std::uint64_t{1} << 62;
  if (!expecting()) return;
  const std::uint64_t number = polls_ | kWhileStuck;
  static constexpr timespec kNow{0, 0};
  if (g_inputs.replaying()) {
    replay(number);
  } else {
    look(number, &kNow);
  }
}

Nanos& Poller::waited_in_vain() { return keep_ready ? kept().waited_in_vain : in_vain_; }

// Whether no thread waits for anything from outside but children.
static bool only_children_are_waited_for() {
  bool any = false;
  bool others = false;
  g_sched.threads.for_each_living([&](const Fiber& fiber) {
    const abi::WaitKind kind = fiber.wait_kind();
    any |= kind == abi::WaitKind::kChild;
    others |= kind == abi::WaitKind::kDescriptor || kind == abi::WaitKind::kSignal ||
              kind == abi::WaitKind::kFileLock;
  });
  return any && !others;
}

Poller::Came Poller::wait_for_something(Nanos due) {
  ++polls_;
  if (g_inputs.replaying())
    return replay(polls_) ? Came::kSomething : due != kForever ? Came::kNothing : Came::kNever;
  static constexpr timespec kNow{0, 0};
  if (look(polls_, &kNow)) return Came::kSomething;
  const Children now = g_other_processes ? children() : Children::kNone;
  const bool is_copy = generation() > 0;
  bool only_children = false;
  if (all_inside()) {
    const bool has_relatives = is_copy || now != Children::kNone || g_other_processes ||
                               (control_->flags & abi::kFlagChild) != 0;
    const bool by_signal =
        signal_is_waited_for(has_relatives ? Senders::kOtherProcesses : Senders::kThisProgram);
    const bool in_real_time =
        is_copy || now == Children::kLive || (by_signal && now == Children::kEnded);
    if (due != kForever && !in_real_time) return Came::kNothing;
    if (due == kForever && !by_signal) return Came::kNever;
    only_children = !by_signal && !is_copy;
  }
  const Nanos begin = real_now();
  const Nanos patience = due == kForever ? kForever : due - g_sched.now();
  // A copy waits for its parent as long as it takes.
  const bool is_alone = !is_copy && now == Children::kNone && !keeps_in_step();
  const Nanos limit = is_copy ? kForever : is_alone ? kMostPatience : kMostPatienceWithRelatives;
  const bool in_haste = is_alone && waited_in_vain() >= kPatienceInAll;
  const Nanos most = (patience < limit ? patience : limit) / (in_haste ? kHaste : 1);
  control_->waits_outside.store(due == kForever && only_children_are_waited_for()
                                    ? abi::WaitsOutside::kForChildrenOnly
                                    : abi::WaitsOutside::kYes,
                                std::memory_order_relaxed);
  bool came = false;
  for (Nanos nap = kShortestNap; !came; nap = nap < kLongestNap ? nap * 2 : kLongestNap) {
    bool tries = false;
    for (const OutsideWait* w = waits_; w != nullptr; w = w->next) tries |= w->try_again != nullptr;
    if (only_children && children() != Children::kLive) break;
    Nanos length = tries || only_children ? nap : 1'000'000'000;
    if (due != kForever) {
      const Nanos left = most - (real_now() - begin);
      if (left <= 0) break;
      if (left < length) length = left;
    }
    const timespec timeout{length / 1'000'000'000, length % 1'000'000'000};
    const Waiting waiting{begin, patience - 1};
    came = look(polls_, &timeout, &waiting);
    if (!came && !told_ && real_now() - begin > kLongWait) {
      told_ = true;
      report_waits();
    }
  }
  control_->waits_outside.store(abi::WaitsOutside::kNo, std::memory_order_relaxed);
  Nanos& in_vain = waited_in_vain();
  in_vain = came ? 0 : in_vain + real_now() - begin;
  return came || (due != kForever && catches_up(polls_)) ? Came::kSomething : Came::kNothing;
}

}  // namespace clew::rt
