#include "runtime/signal/attend.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/arena.h"
#include "runtime/fiber/own_stack.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/crash.h"
#include "runtime/record/end.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/signal/signals.h"

namespace clew::rt {
namespace {

bool stops(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// The whole program stops, as it would have without clew, until somebody continues it.
void stop_program() {
  // Nobody would continue a run of a hunt.
  const auto& control = *reinterpret_cast<const abi::Control*>(abi::kControlAddress);
  if (control.flags & abi::kFlagFromMain) end_unsupported("a program that stops itself");
  raw_syscall(SYS_kill, raw_syscall(SYS_getpid), SIGSTOP);
}

bool is_on(const stack_t& stack, std::uintptr_t address) {
  const auto bottom = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return address >= bottom && address < bottom + stack.ss_size;
}

// Where the kernel would put the interrupted registers, and where garbage collectors look for them.
// Without a fault they are those of the interrupted call. The handler of a fault gets the kernel's
// context, which it may change, and a copy is here.
struct HandlerFrame {
  ucontext_t context;
  siginfo_t info;
};
HandlerFrame* place_below(std::uintptr_t top) {
  return reinterpret_cast<HandlerFrame*>((top - sizeof(HandlerFrame)) & ~std::uintptr_t{63});
}

// Fills in the registers as the interrupted call left them.
void fill_registers(gregset_t& registers) {
  if (!is_on_own_stack()) return clew_fill_context(&registers[0]);
  const Entry& left = entry();
  const auto put = [&](int number, std::uintptr_t value) {
    registers[number] = static_cast<greg_t>(value);
  };
  put(REG_R12, left.r12);
  put(REG_R13, left.r13);
  put(REG_R14, left.r14);
  put(REG_R15, left.r15);
  put(REG_RBP, left.rbp);
  put(REG_RBX, left.rbx);
  put(REG_RSP, left.stack);
  put(REG_RIP, left.code);
}

// Handlers end in the reverse order of their beginning, unless swapcontext() leaves one: then one
// that ends may find others that have begun later. The runtime's frames below them are about to be
// overwritten; should one of those handlers return, it ends the run.
void end_in_other_order() {
  end_unsupported("a signal handler that is left by swapcontext() and ends after an earlier one");
}

// What clew_call_on_stack finds there instead of its own frame: eight words, the last of which it
// returns to.
std::uintptr_t frame_of_other_order() {
  static std::uintptr_t frame = 0;
  if (frame != 0) return frame;
  constexpr std::size_t kRoom = std::size_t{256} << 10;
  constexpr std::size_t kWords = 8;
  constexpr std::size_t kAlignment = 16;  // after a call the stack pointer is 8 more than that
  const auto end = reinterpret_cast<std::uintptr_t>(arena_alloc(kRoom)) + kRoom - 4 * kAlignment;
  auto* words = reinterpret_cast<std::uintptr_t*>((end & ~(kAlignment - 1)) + kAlignment / 2 -
                                                  kWords * sizeof(std::uintptr_t));
  words[kWords - 1] = reinterpret_cast<std::uintptr_t>(&end_in_other_order);
  return frame = reinterpret_cast<std::uintptr_t>(words);
}

bool is_mapped(const void* address) {
  constexpr std::uintptr_t kPage = 4096;
  unsigned char unused = 0;
  const auto page = reinterpret_cast<std::uintptr_t>(address) & ~(kPage - 1);
  return raw_syscall(SYS_mincore, static_cast<long>(page), 1, reinterpret_cast<long>(&unused)) == 0;
}

void give_up_later(CallOfProgram* innermost, const CallOfProgram& ended) {
  // What is stored there points at the frame that called it, if the program has not used the stack
  // for something else meanwhile.
  constexpr std::uintptr_t kFrame = 4096;
  for (CallOfProgram* later = innermost; later != nullptr && later != &ended; later = later->outer)
    if (is_mapped(later->way_back) &&
        reinterpret_cast<std::uintptr_t>(later) - *later->way_back < kFrame)
      *later->way_back = frame_of_other_order();
}

}  // namespace

void run_handler(Fiber& self, int signal, siginfo_t& info, void* context) {
  const Action action = action_of(signal);
  if ((action.flags & SA_RESETHAND) != 0) reset_action(signal);
  const std::uint64_t before = self.signals.mask;
  self.signals.mask |= action.mask | ((action.flags & SA_NODEFER) != 0 ? 0 : bit_of(signal));
  const bool leaves = is_on_own_stack();
  const stack_t& stack = self.signals.stack;
  // The end of the stack that the handler gets; 0: this one.
  std::uintptr_t top = leaves ? entry().stack : 0;
  if ((action.flags & SA_ONSTACK) != 0 && stack.ss_size != 0 &&
      !is_on(stack, program_stack_pointer()))
    top = reinterpret_cast<std::uintptr_t>(stack.ss_sp) + stack.ss_size;
  HandlerFrame local;
  HandlerFrame& frame = top != 0 ? *place_below(top) : local;
  ucontext_t& here = frame.context;
  memset(&here, 0, sizeof here);
  if (context == nullptr) {
    fill_registers(here.uc_mcontext.gregs);
    here.uc_stack = stack;
    memcpy(&here.uc_sigmask, &before, sizeof before);
  } else {
    memcpy(&here, context, offsetof(ucontext_t, uc_sigmask));
  }
  frame.info = info;
  ++self.interruptions;
  auto* handler = reinterpret_cast<SignalHandler>(action.handler);
  void* interrupted = context != nullptr ? context : &here;
  CallOfProgram call{self.calls, clew_own_top, program_stack_pointer(),
                     reinterpret_cast<std::uintptr_t*>(&frame) - 2};
  if (leaves) self.calls = &call;
  if (top != 0) {
    clew_call_on_stack(handler, signal, &frame.info, interrupted, &frame);
  } else {
    handler(signal, &frame.info, interrupted);
  }
  if (leaves) give_up_later(self.calls, call);
  self.calls = call.outer;
  --self.interruptions;
  // The handler may have changed the mask that it returns to.
  std::uint64_t after = before;
  if (context == nullptr) memcpy(&after, &here.uc_sigmask, sizeof after);
  self.signals.mask = after & ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
}

// Saves what the thread was about to do while its handlers take steps and make calls of their own.
// They run unguarded, even in the middle of a call whose arguments are guarded.
class Interrupted {
 public:
  explicit Interrupted(Fiber& fiber)
      : fiber_(fiber), guarded_(fiber.guarded), reached_(fiber.reached) {
    memcpy(guard_, fiber.guard, sizeof guard_);
    fiber.guarded = false;
  }
  ~Interrupted() {
    memcpy(fiber_.guard, guard_, sizeof guard_);
    fiber_.guarded = guarded_;
    fiber_.reached = reached_;
  }

 private:
  Fiber& fiber_;
  void* guard_[5];
  bool guarded_;
  Reached reached_;
};

Attended attend(Fiber& self, unsigned ended_by) {
  Attended attended;
  siginfo_t info;
  self.disturbed = false;
  const Interrupted interrupted(self);
  while (take_pending(self, ~self.signals.mask, info)) {
    const int signal = info.si_signo;
    const void* handler = action_of(signal).handler;
    if (handler == reinterpret_cast<void*>(SIG_IGN)) continue;
    if (handler == reinterpret_cast<void*>(SIG_DFL)) {
      if (signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT)
        continue;
      if (!stops(signal)) die_of(signal, info);
      stop_program();
      continue;
    }
    attended.handled = true;
    attended.restarts &= (action_of(signal).flags & SA_RESTART) != 0;
    run_handler(self, signal, info, nullptr);
  }
  self.disturbed = false;
  if (cancel_wanted(self)) {
    if (cancels_at_once(self)) act_on_cancel();
    attended.cancelled = (ended_by & kCancel) != 0;
  }
  return attended;
}

}  // namespace clew::rt
