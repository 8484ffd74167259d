// Signals that were sent and not yet delivered.
#include <errno.h>
#include <string.h>

#include "runtime/outside/asks.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"
#include "runtime/signal/signals.h"

namespace clew::rt {
namespace {

struct Pending {
  siginfo_t info;
  std::uint32_t thread;  // index + 1; 0: any
};

constexpr std::size_t kMost = 1024;
Pending g_pending[kMost];  // oldest first
std::size_t g_count = 0;

// Written by a handler that may strike anywhere.
constexpr std::size_t kMostArrived = 64;
siginfo_t g_arrived[kMostArrived];
volatile std::size_t g_arrived_head = 0;
volatile std::size_t g_arrived_tail = 0;

bool is_for(const Pending& pending, const Fiber& fiber) {
  return pending.thread == 0 || pending.thread == fiber.index + 1;
}

// The kernel's order: the thread's own before the program's, and the lowest number first; signals
// of the same number in the order of their coming.
std::size_t find(const Fiber& fiber, std::uint64_t set) {
  std::size_t best = kMost;
  for (std::size_t i = 0; i < g_count; ++i) {
    const Pending& p = g_pending[i];
    if (!is_for(p, fiber) || (set & bit_of(p.info.si_signo)) == 0) continue;
    if (best == kMost || (p.thread != 0) > (g_pending[best].thread != 0) ||
        ((p.thread != 0) == (g_pending[best].thread != 0) &&
         p.info.si_signo < g_pending[best].info.si_signo))
      best = i;
  }
  return best;
}

void remove(std::size_t i) {
  memmove(g_pending + i, g_pending + i + 1, (g_count - i - 1) * sizeof(Pending));
  --g_count;
}

bool is_ignored(int signal) {
  const void* handler = action_of(signal).handler;
  if (handler == reinterpret_cast<void*>(SIG_IGN)) return true;
  if (handler != reinterpret_cast<void*>(SIG_DFL)) return false;
  return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

bool blocks(const Fiber& fiber, int signal) { return (fiber.signals.mask & bit_of(signal)) != 0; }

bool waits_for(const Fiber& fiber, int signal) {
  return fiber.wait_kind() == abi::WaitKind::kSignal && !fiber.wait->over() &&
         (fiber.signals.waited_for & bit_of(signal)) != 0;
}

// Somebody who can take it: one that waits for it, then the oldest; the kernel prefers the first
// thread too.
Fiber* taker(int signal) {
  Fiber* waiting = nullptr;
  Fiber* open = nullptr;
  g_sched.for_each_living([&](Fiber& fiber) {
    if (waiting == nullptr && waits_for(fiber, signal)) waiting = &fiber;
    if (open == nullptr && !blocks(fiber, signal)) open = &fiber;
  });
  return waiting != nullptr ? waiting : open;
}

void notify(Fiber& fiber, int signal) {
  if (waits_for(fiber, signal)) {
    g_sched.wake(*fiber.wait);
  } else if (!blocks(fiber, signal)) {
    g_sched.disturb(&fiber);
  }
}

}  // namespace

long post(const siginfo_t& info, Fiber* to) {
  if (has_handler(info.si_signo)) g_sched.handlers_wanted = true;
  const int signal = info.si_signo;
  // SIGCONT takes back stops, and the other way round; both only the kernel can do.
  bool blocked_anywhere = false;
  g_sched.for_each_living([&](Fiber& fiber) {
    blocked_anywhere |=
        (to == nullptr || to == &fiber) && (blocks(fiber, signal) || waits_for(fiber, signal));
  });
  if (is_ignored(signal) && !blocked_anywhere) return 0;
  const std::uint32_t thread = to != nullptr ? to->index + 1 : 0;
  if (signal < SIGRTMIN)  // not queued
    for (std::size_t i = 0; i < g_count; ++i)
      if (g_pending[i].info.si_signo == signal && g_pending[i].thread == thread) return 0;
  if (g_count == kMost) return -EAGAIN;
  g_pending[g_count++] = {info, thread};
  if (to == nullptr) to = taker(signal);
  if (to != nullptr) notify(*to, signal);
  return 0;
}

void post_by_timer(int signal, int timer, sigval value) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_TIMER;
  info.si_timerid = timer;
  info.si_value = value;
  post(info, nullptr);
}

void post_by_kernel(int signal) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_KERNEL;
  post(info, nullptr);
}

bool is_sent_by_call(const siginfo_t& info) {
  return (bit_of(info.si_signo) & kSentByCalls) != 0 && info.si_code == SI_USER &&
         info.si_pid == g_sched.process;
}

// Those that the kernel sends on behalf of a call go to the thread that made it, the one that runs.
void post_from_outside(const siginfo_t& info) {
  if (info.si_signo < 1 || info.si_signo >= NSIG) return;
  post(info, is_sent_by_call(info) ? g_sched.current : nullptr);
}

void note_arrived(const siginfo_t& info) {
  const std::size_t head = g_arrived_head;
  if (head - g_arrived_tail == kMostArrived) return;
  g_arrived[head % kMostArrived] = info;
  g_arrived_head = head + 1;
}

bool any_arrived() { return g_arrived_tail != g_arrived_head; }

std::size_t take_arrived(siginfo_t* out, std::size_t room) {
  std::size_t n = 0;
  while (n < room && g_arrived_tail != g_arrived_head) {
    out[n++] = g_arrived[g_arrived_tail % kMostArrived];
    g_arrived_tail = g_arrived_tail + 1;
  }
  return n;
}

bool take_pending(Fiber& fiber, std::uint64_t set, siginfo_t& out) {
  const std::size_t i = find(fiber, set);
  if (i == kMost) return false;
  out = g_pending[i].info;
  remove(i);
  return true;
}

bool is_pending(const Fiber& fiber, std::uint64_t set) { return find(fiber, set) != kMost; }

bool is_pending_for_one(std::uint64_t set) {
  for (std::size_t i = 0; i < g_count; ++i)
    if (g_pending[i].thread != 0 && (set & bit_of(g_pending[i].info.si_signo)) != 0) return true;
  return false;
}

std::uint64_t pending_set(const Fiber& fiber) {
  std::uint64_t set = 0;
  for (std::size_t i = 0; i < g_count; ++i)
    if (is_for(g_pending[i], fiber)) set |= bit_of(g_pending[i].info.si_signo);
  return set;
}

void distribute_pending() {
  for (std::size_t i = 0; i < g_count; ++i) {
    if (g_pending[i].thread != 0) continue;
    const int signal = g_pending[i].info.si_signo;
    if (Fiber* fiber = taker(signal)) notify(*fiber, signal);
  }
}

void forget_pending() { g_count = 0; }

void forget_arrived() { g_arrived_tail = g_arrived_head; }

}  // namespace clew::rt
