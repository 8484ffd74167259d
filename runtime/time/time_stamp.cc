#include "runtime/time/time_stamp.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {
constexpr std::uint64_t kTicksPerNanosecond = 2;
Nanos g_read = 0;
}  // namespace

void watch_time_stamp() { raw_syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV); }
void enable_time_stamp() { raw_syscall(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE); }

bool stand_in_for_time_stamp(ucontext_t& context) {
  auto& registers = context.uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  // A general protection fault, with the instruction pointer at the instruction. A fault in
  // fetching it has an address.
  if (registers[REG_TRAPNO] != 13 || code[0] != 0x0f) return false;
  const bool with_processor = code[1] == 0x01 && code[2] == 0xf9;  // rdtscp
  if (code[1] != 0x31 && !with_processor) return false;
  // The clock may not be exact here (Scheduler::clock), and what this read costs must not move the
  // program's timers.
  g_read += g_sched.at_speed(kNanosPerCall);
  g_sched.uncovered |= abi::kUncoveredTime;
  const auto ticks =
      static_cast<std::uint64_t>(g_sched.certain_now() + g_read) * kTicksPerNanosecond;
  registers[REG_RAX] = static_cast<long long>(ticks & 0xffffffff);
  registers[REG_RDX] = static_cast<long long>(ticks >> 32);
  if (with_processor) registers[REG_RCX] = 0;
  registers[REG_RIP] += with_processor ? 3 : 2;
  return true;
}

}  // namespace clew::rt
