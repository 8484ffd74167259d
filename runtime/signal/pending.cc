// Signals that were sent and not yet delivered.
#include <errno.h>

#include "runtime/arena.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/callbacks.h"
#include "runtime/signal/signals.h"

namespace clew::rt {
namespace {

struct Pending {
  Pending* next;
  siginfo_t info;
  std::uint32_t thread;  // index + 1; 0: any
};

// The pending signals of one number, in the order of arrival.
struct Queue {
  Pending* head;
  Pending** end;  // null: never used
};

// Apart, so that a thread that looks for its own does not come by all of the program's: there may be
// 100,000.
using Queues = Queue[NSIG];
Queues g_of_threads;
Queues g_of_program;
Pending* g_free = nullptr;
std::uint64_t g_sent = 0;  // the signals that the program has sent itself
std::size_t g_count = 0;
// The limit on all that are pending. That of the process (RLIMIT_SIGPENDING) is asked for only when
// it may matter.
std::size_t g_most = 1024;
bool g_most_is_known = false;

// Written by a handler, which may interrupt any code.
constexpr std::size_t kMostArrived = 64;
siginfo_t g_arrived[kMostArrived];
volatile std::size_t g_arrived_head = 0;
volatile std::size_t g_arrived_tail = 0;

void append(const siginfo_t& info, std::uint32_t thread) {
  Pending* made = g_free;
  if (made != nullptr)
    g_free = made->next;
  else
    made = arena_new<Pending>();
  *made = {nullptr, info, thread};
  Queue& queue = (thread != 0 ? g_of_threads : g_of_program)[info.si_signo];
  if (queue.end == nullptr) queue.end = &queue.head;
  *queue.end = made;
  queue.end = &made->next;
  ++g_count;
}

siginfo_t take(Queue& queue, Pending** link) {
  Pending* taken = *link;
  *link = taken->next;
  if (taken->next == nullptr) queue.end = link;
  taken->next = g_free;
  g_free = taken;
  --g_count;
  g_signal_callbacks.taken(taken->info);
  return taken->info;
}

// Calls visit(queue, link to the signal) for each of `set` that is pending, the lowest number
// first, until it returns true.
template <class F>
bool visit_pending(Queues& queues, std::uint64_t set, F visit) {
  for (int signal = 1; signal < NSIG && g_count > 0; ++signal) {
    if ((set & bit_of(signal)) == 0) continue;
    Queue& queue = queues[signal];
    for (Pending** link = &queue.head; *link != nullptr; link = &(*link)->next)
      if (visit(queue, link)) return true;
  }
  return false;
}

// The kernel's order: the thread's own before the program's, and the lowest number first; signals
// of the same number in the order of arrival.
template <class F>
bool visit_next(const Fiber& fiber, std::uint64_t set, F visit) {
  const auto first = [&](Queue& queue, Pending** link) {
    if ((*link)->thread != 0 && (*link)->thread != fiber.index + 1) return false;
    visit(queue, link);
    return true;
  };
  return visit_pending(g_of_threads, set, first) || visit_pending(g_of_program, set, first);
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

// A thread that can take the signal: one that waits for it, otherwise the oldest that does not
// block it; the kernel prefers the first thread too.
Fiber* taker(int signal) {
  Fiber* waiting = nullptr;
  Fiber* open = nullptr;
  g_sched.threads.for_each_living([&](Fiber& fiber) {
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

namespace {

enum class Posted : std::uint8_t { kPending, kIgnored, kTooMany };
enum class Queued : std::uint8_t { kAlways, kRealTimeOnly };

Posted post(const siginfo_t& info, Fiber* to, Queued queued) {
  if (has_handler(info.si_signo)) g_sched.uncovered |= abi::kUncoveredHandlers;
  const int signal = info.si_signo;
  // SIGCONT cancels pending stops and vice versa; only the kernel can do either.
  bool blocked_anywhere = false;
  g_sched.threads.for_each_living([&](Fiber& fiber) {
    blocked_anywhere |=
        (to == nullptr || to == &fiber) && (blocks(fiber, signal) || waits_for(fiber, signal));
  });
  if (is_ignored(signal) && !blocked_anywhere) return Posted::kIgnored;
  const std::uint32_t thread = to != nullptr ? to->index + 1 : 0;
  const Queue& queue = (thread != 0 ? g_of_threads : g_of_program)[signal];
  if (queued == Queued::kRealTimeOnly && signal < SIGRTMIN)
    for (const Pending* each = queue.head; each != nullptr; each = each->next)
      if (each->thread == thread) return Posted::kPending;
  if (g_count >= g_most) return Posted::kTooMany;
  append(info, thread);
  if (to == nullptr) to = taker(signal);
  if (to != nullptr) notify(*to, signal);
  return Posted::kPending;
}

void learn_limit() {
  g_most_is_known = true;
  if (const std::size_t most = g_signal_callbacks.most_pending()) g_most = most;
}

}  // namespace

long post(const siginfo_t& info, Fiber* to) {
  g_sent |= bit_of(info.si_signo);
  if (g_count >= g_most && !g_most_is_known) learn_limit();
  return post(info, to, Queued::kRealTimeOnly) == Posted::kTooMany ? -EAGAIN : 0;
}

bool post_by_timer(int signal, int timer, sigval value) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_TIMER;
  info.si_timerid = timer;
  info.si_value = value;
  return post(info, nullptr, Queued::kAlways) == Posted::kPending;
}

bool post_by_kernel(int signal) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_KERNEL;
  return post(info, nullptr, Queued::kRealTimeOnly) == Posted::kPending;
}

bool is_sent_by_call(const siginfo_t& info) {
  return (bit_of(info.si_signo) & kSentByCalls) != 0 && info.si_code == SI_USER &&
         info.si_pid == g_sched.process;
}

// A signal that the kernel sends on behalf of a call goes to the thread that made it, the running
// one.
void post_from_outside(const siginfo_t& info) {
  if (info.si_signo < 1 || info.si_signo >= NSIG) return;
  post(info, is_sent_by_call(info) ? g_sched.current : nullptr, Queued::kRealTimeOnly);
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
  return visit_next(fiber, set, [&](Queue& queue, Pending** link) { out = take(queue, link); });
}

bool is_pending(const Fiber& fiber, std::uint64_t set) {
  return visit_next(fiber, set, [](Queue&, Pending**) {});
}

bool is_pending_for_one(std::uint64_t set) {
  return visit_pending(g_of_threads, set, [](Queue&, Pending**) { return true; });
}

std::uint64_t pending_set(const Fiber& fiber) {
  std::uint64_t set = 0;
  for (int signal = 1; signal < NSIG; ++signal)
    if (is_pending(fiber, bit_of(signal))) set |= bit_of(signal);
  return set;
}

void distribute_pending() {
  for (int signal = 1; signal < NSIG && g_count > 0; ++signal)
    for (const Pending* each = g_of_program[signal].head; each != nullptr; each = each->next) {
      Fiber* fiber = taker(signal);
      if (fiber == nullptr) break;
      const bool waits = waits_for(*fiber, signal);
      notify(*fiber, signal);
      if (!waits) break;  // it takes all of them
    }
}

void discard_if_ignored(int signal) {
  if (!is_ignored(signal)) return;
  for (Queue* queue : {&g_of_threads[signal], &g_of_program[signal]})
    while (queue->head != nullptr) take(*queue, &queue->head);
}

// Handlers of faults (AddressSanitizer's, those of crash reporters) are there for what the program
// does, not for what somebody sends.
static constexpr std::uint64_t kFaults = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) |
                                         bit_of(SIGILL) | bit_of(SIGTRAP) | bit_of(SIGSYS) |
                                         bit_of(SIGABRT);

bool may_be_sent_from_outside(const Fiber& fiber) {
  std::uint64_t ends = fiber.signals.waited_for;
  if (ends == 0) {
    for (int signal = 1; signal < NSIG; ++signal)
      if (has_handler(signal) && !blocks(fiber, signal)) ends |= bit_of(signal);
    ends &= ~kFaults;
  }
  return (ends & ~g_sent) != 0 || ends == 0;
}

void forget_pending() {
  for (Queue& queue : g_of_threads) queue = {};
  for (Queue& queue : g_of_program) queue = {};
  g_count = 0;
}

void forget_arrived() { g_arrived_tail = g_arrived_head; }

}  // namespace clew::rt
