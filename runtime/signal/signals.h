// Signals as the program sees them: actions, masks, what is pending, alternate stacks. All of it is
// kept by the runtime; the kernel knows only whether the program ignores a signal or dies of it
// (kSentByCalls: whether it ignores it).
//
//  - A signal that the program sends itself, or that a timer of its own sends, never goes through
//    the kernel: it is posted, and the thread attends to it at its next yield point (attend.h).
//  - One that comes from outside interrupts whatever runs, and is only noted. It is posted when the
//    kernel is asked next (outside/poller.h), which is recorded.
//  - Faults are handled on the spot, by the program's handler or by a report (faults.h).
#ifndef CLEW_RUNTIME_SIGNAL_SIGNALS_H_
#define CLEW_RUNTIME_SIGNAL_SIGNALS_H_

#include <signal.h>

#include "clew_abi/control.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/sched/fiber.h"

namespace clew::rt {

// The kernel's struct sigaction.
struct Action {
  void* handler;
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

// Makes a function of the runtime the kernel's handler. It returns through code of the runtime,
// whose system calls are not caught.
void install_handler(int signal, SignalHandler handler, unsigned long flags,
                     std::uint64_t mask = 0);

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
inline constexpr std::uint64_t kUnblockable = bit_of(SIGKILL) | bit_of(SIGSTOP);
inline constexpr long kSignalSetSize = 8;  // of a set as the kernel knows it

// Signals that a system call may cause, besides its answer.
inline constexpr std::uint64_t kSentByCalls = bit_of(SIGPIPE) | bit_of(SIGXFSZ);

const Action& action_of(int signal);
bool has_handler(int signal);
void reset_action(int signal);

// What sigaction, sigprocmask and sigaltstack do; -errno on failure. Any pointer may be null.
long change_action(int signal, const Action* wanted, Action* before);
long change_mask(long how, const std::uint64_t* set, std::uint64_t* before);
long change_stack(const stack_t* wanted, stack_t* before);

// Sends a signal to a thread or, if null, to whichever does not block it. -EAGAIN: too many are
// pending.
long post(const siginfo_t& info, Fiber* to);
// Sends a signal with `value` to the program. False: it is ignored.
bool post_by_timer(int signal, int timer, sigval value);
bool post_by_kernel(int signal);  // of alarm and setitimer: without a sender
void post_from_outside(const siginfo_t& info);
// Whether it is one of kSentByCalls, and no other process has sent it.
bool is_sent_by_call(const siginfo_t& info);
// A signal interrupts the program. To be called in the kernel's handler.
void note_arrived(const siginfo_t& info);
// Signals that have interrupted the program since the last call.
bool any_arrived();
std::size_t take_arrived(siginfo_t* out, std::size_t room);
void forget_arrived();

// Takes a pending signal of `set` for the thread. False: there is none.
bool take_pending(Fiber& fiber, std::uint64_t set, siginfo_t& out);
bool is_pending(const Fiber& fiber, std::uint64_t set);
std::uint64_t pending_set(const Fiber& fiber);
void forget_pending();
// Whether the thread, which waits for signals, waits for any that the program has not sent itself
// in this run: somebody else may send it. REQUIRES: it is in such a wait.
bool may_be_sent_from_outside(const Fiber& fiber);
// Whether there is one of `set` that was sent to a thread, not to the program.
bool is_pending_for_one(std::uint64_t set);
// The signal's action has changed: if it is ignored now, it is no longer pending.
void discard_if_ignored(int signal);
// The running thread blocks more than before, or ends: what is pending goes to threads that can
// take it.
void distribute_pending();

// Runs the program's handler for the signal, as the kernel would. `context` is the interrupted one,
// or null. Returns when the handler returns.
void run_handler(Fiber& self, int signal, siginfo_t& info, void* context);

// Sets a mask for the duration of a wait (ppoll and the like). Null: the mask stays.
class TemporaryMask {
 public:
  explicit TemporaryMask(const std::uint64_t* mask);
  ~TemporaryMask();

 private:
  std::uint64_t before_ = 0;
  bool set_ = false;
};

// Takes over the handler that the kernel was told of while calls were not caught.
void adopt_handler(int signal);
// Takes over those that were installed by code that runs before any constructor. REQUIRES: the
// fault handlers are not installed yet.
void adopt_handlers(Fiber& main);
// Sets the signals that the program begins with blocked and ignored.
void inherit_signals(const abi::Control& control, Fiber& main);

// This process is about to continue without clew: tells the kernel all of it.
void hand_signals_to_kernel(const Fiber& self);

// Remembers what the kernel has been told, in case the process continues with clew after all.
class KernelSignals {
 public:
  KernelSignals();
  void restore() const;

 private:
  Action actions_[NSIG];
  std::uint64_t mask_ = 0;
  stack_t stack_{};
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_SIGNALS_H_
