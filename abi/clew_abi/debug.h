// What the runtime tells a debugger that controls the program (`clew replay --gdb`): its threads,
// which are one thread to the kernel, and the clock. Kept up to date only with kFlagWaitDebugger.
#ifndef CLEW_ABI_DEBUG_H_
#define CLEW_ABI_DEBUG_H_

#include <cstddef>
#include <cstdint>

namespace clew::abi {

// The runtime stops by a breakpoint instruction with this number in rax, a DebugStop in rdi and the
// address of the DebugTable in rsi.
inline constexpr std::uint64_t kDebugMagic = 0x5eb6'c1e3'0f70'0a11;

enum class DebugStop : std::uint64_t {
  kStarted,  // the runtime is in charge, no code of the program has run
  kMain,     // main is about to be called
  kClock,    // the event of Control's query is about to be counted
  kEnding,   // the program is about to end
};

enum class DebugThreadState : std::uint64_t {
  kRunning,
  kRunnable,
  kBlocked,
  kFinished,
  kNotStarted
};

// Registers are those of a thread that is parked.
struct DebugThread {
  char id[32];  // "T0.2"; empty: there is no such thread
  std::uint64_t instruction, stack, frame, rbx, r12, r13, r14, r15;
  std::uint64_t thread_pointer;
  DebugThreadState state;   // when it was parked; of the one that runs, not kept
  std::uint64_t parked_at;  // the clock
};

inline constexpr std::size_t kMaxDebugThreads = 4096;
inline constexpr std::size_t kMaxDebugFailure = 256;

struct DebugTable {
  std::uint64_t count;  // entries of `threads` that were used
  std::uint64_t current;
  // Events passed are *limit - 1 - max(**countdown, 0) if *counts, otherwise *settled: addresses.
  std::uint64_t countdown, counts, limit, settled;
  char failure[kMaxDebugFailure];  // what was reported; empty: nothing
  DebugThread threads[kMaxDebugThreads];
};

}  // namespace clew::abi

#endif  // CLEW_ABI_DEBUG_H_
