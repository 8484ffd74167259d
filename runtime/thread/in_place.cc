#include "runtime/thread/in_place.h"

#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/own_stack.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/libc/real.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/active.h"
#include "runtime/translate/translate.h"

namespace clew::rt {
namespace {

enum class Work : std::uint8_t { kNone, kBeginning, kEnding };
Work g_work = Work::kNone;
bool g_kernel_begins = false;

Context g_back;  // who waits for the new thread to park, or for the old one to end

// Where the new thread begins, as libc's clone call says it.
gregset_t g_registers;
std::uintptr_t g_thread_pointer = 0;

constexpr long kSetSize = 8;  // of a set of signals as the kernel knows it

// While it lives, libc's code is run in place: no signal interrupts it but those by which its system
// calls are caught, and nothing of their frames is left on a thread's stack.
class InPlace {
 public:
  explicit InPlace(Work work) {
    constexpr std::uint64_t kAllOthers = ~(std::uint64_t{1} << (SIGSYS - 1));
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&kAllOthers),
                reinterpret_cast<long>(&mask_), kSetSize);
    g_work = work;
  }
  ~InPlace() {
    g_work = Work::kNone;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask_), 0, kSetSize);
  }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

 private:
  std::uint64_t mask_ = 0;
  OffDuty off_duty_;
  NoOwnStack none_;
  OnSignalStack on_signal_stack_;
  Untranslated untranslated_;  // as on a kernel thread
};

// Notes where the thread begins. libc's answer is a thread's number: the caller sets its own.
long note_clone(const greg_t* registers) {
  memcpy(g_registers, registers, sizeof g_registers);
  if (registers[REG_RAX] == SYS_clone3) {
    const auto& wanted = *reinterpret_cast<const clone_args*>(registers[REG_RDI]);
    g_registers[REG_RSP] = static_cast<greg_t>(wanted.stack + wanted.stack_size);
    g_thread_pointer = wanted.tls;
  } else {
    g_registers[REG_RSP] = registers[REG_RSI];
    g_thread_pointer = static_cast<std::uintptr_t>(registers[REG_R8]);
  }
  return 1;
}

[[noreturn]] void leave_ended() {
  Context gone;
  clew_context_switch(&gone, &g_back);
  __builtin_unreachable();
}

// The mask is not the thread's: its own is in its fiber.
long answer_mask(const greg_t* registers) {
  if (registers[REG_RDX] != 0) memset(reinterpret_cast<void*>(registers[REG_RDX]), 0, kSetSize);
  return 0;
}

}  // namespace

bool can_do_in_place() { return calls_are_caught() && g_work == Work::kNone; }

bool can_begin_in_place(const pthread_attr_t* attributes) {
  if (!can_do_in_place() || g_kernel_begins) return false;
  if (attributes == nullptr) return true;
  int inherit = PTHREAD_INHERIT_SCHED;
  pthread_attr_getinheritsched(attributes, &inherit);
  cpu_set_t set;
  if (inherit != PTHREAD_INHERIT_SCHED ||
      pthread_attr_getaffinity_np(attributes, sizeof set, &set) != 0)
    return false;
  return CPU_COUNT(&set) == CPU_SETSIZE;  // none is set
}

void leave_beginnings_to_kernel() { g_kernel_begins = true; }

int begin_in_place(pthread_t* out, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  const InPlace in_place(Work::kBeginning);
  const int error = CLEW_REAL(pthread_create)(out, attributes, start, argument);
  if (error == 0) clew_context_resume_at(&g_back, g_registers, g_thread_pointer);
  return error;
}

bool is_begun_in_place() { return g_work == Work::kBeginning; }

void park_in_place(Context& self) {
  self.thread_pointer = current_thread_pointer();
  clew_context_switch(&self, &g_back);
}

void end_in_place(const Context& parked, void (*entry)(void*), void* argument) {
  const InPlace in_place(Work::kEnding);
  // As far below as a kernel thread begins (clew_context_run_on_kernel_thread), as after a call.
  const std::uintptr_t stack = ((parked.stack_pointer - 256) & ~std::uintptr_t{15}) + 8;
  memset(g_registers, 0, sizeof g_registers);
  g_registers[REG_RSP] = static_cast<greg_t>(stack);
  g_registers[REG_RIP] = reinterpret_cast<greg_t>(entry);
  g_registers[REG_RDI] = reinterpret_cast<greg_t>(argument);
  clew_context_resume_at(&g_back, g_registers, parked.thread_pointer);
}

bool answer_in_place(greg_t* registers) {
  if (g_work == Work::kNone) return false;
  switch (registers[REG_RAX]) {
    case SYS_clone:
    case SYS_clone3:
      registers[REG_RAX] = note_clone(registers);
      return true;
    case SYS_rt_sigprocmask:
      registers[REG_RAX] = answer_mask(registers);
      return true;
    case SYS_set_robust_list:
    case SYS_rseq:  // the kernel thread has one of each, the first thread's
      registers[REG_RAX] = 0;
      return true;
    case SYS_exit:
      leave_ended();
    default:
      return false;
  }
}

}  // namespace clew::rt
