// The control memory: one memfd, mapped by the host and, at a fixed address, by
// the runtime. The host fills in what the run is to be; the runtime reports through
// the ring. Fixed, so that it never moves what the program maps.
#ifndef CLEW_ABI_CONTROL_H_
#define CLEW_ABI_CONTROL_H_

#include <atomic>
#include <cstdint>

#include "clew_abi/version.h"

namespace clew::abi {

inline constexpr std::uint64_t kControlMagic = 0x77656c63'6c727463;  // "ctrlclew"
inline constexpr std::uintptr_t kControlAddress = 0x4000'0000'0000;
// The variable that carries the descriptor, always kControlDigits digits: its length
// must not move the stack. The runtime removes it before the program can see it.
inline constexpr char kControlVariable[] = "CLEW_CONTROL";
inline constexpr int kControlDigits = 6;

enum class StrategyKind : std::uint32_t { kNone = 0, kTimer = 1, kSchedule = 2 };

enum ControlFlags : std::uint32_t {
  kFlagReplay = 1u << 0,        // full replay: checks are compared, a departure ends the run
  kFlagSlices = 1u << 1,        // report every slice (kSlice)
  kFlagWaitDebugger = 1u << 2,  // before main, wait until `debugger_ready` is set
  kFlagLineBuffered = 1u << 3,  // standard output was a terminal: flush at line ends
  kFlagEveryPoint = 1u << 4,    // stop at every point: every slice's first and last line is known
};

struct Control {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t size_of_control;  // sizeof(Control)

  // What the run is to be.
  StrategyKind strategy;
  std::uint32_t flags;
  std::uint64_t seed;
  std::uint64_t budget;      // the clock at which the run counts as a hang
  std::uint64_t fair_slice;  // points a thread may pass on end while others could run (spin loops)
  std::int64_t epoch_ns;     // virtual CLOCK_REALTIME at the start

  // Parts behind this structure, as offsets from its start.
  std::uint64_t total_size;     // of the whole memory
  std::uint64_t stream_offset;  // the schedule to follow (strategy kSchedule)
  std::uint64_t stream_size;
  std::uint64_t names_offset;  // names_count NUL-terminated thread ids, for kSwitchTo
  std::uint64_t names_size;
  std::uint64_t names_count;
  std::uint64_t queries_offset;  // queries_count ascending u64 clocks, for kStack
  std::uint64_t queries_count;
  std::uint64_t ring_offset;
  std::uint64_t ring_size;  // a power of two

  // The ring. Bytes written and read since the start; the runtime owns head, the host tail.
  alignas(64) std::atomic<std::uint64_t> head;
  alignas(64) std::atomic<std::uint64_t> tail;

  // Live state, for progress and the watchdog.
  alignas(64) std::atomic<std::uint64_t> live_clock;
  std::atomic<std::uint32_t> attached;  // the runtime is in charge
  std::atomic<std::uint32_t> debugger_ready;
};

}  // namespace clew::abi

#endif  // CLEW_ABI_CONTROL_H_
