// Telling a program that sleeps in the kernel for good from one that works or waits for its user.
// All threads are fibers on one kernel thread: if that sleeps, nothing else of the program can run.
#ifndef CLEW_HOST_TARGET_WATCHDOG_H_
#define CLEW_HOST_TARGET_WATCHDOG_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/target/run_result.h"

namespace clew {

inline constexpr double kBlockedSeconds = 5;
// What is outside may take its time.
inline constexpr double kOutsideSeconds = 10;
// A child process may work for long, or sleep as long as it pleases.
inline constexpr double kChildrenSeconds = 600;

// What two looks at a program can differ in.
struct Pulse {
  char state = '?';  // of /proc/PID/stat
  std::uint64_t cpu_ticks = 0;
  std::uint64_t clock = 0;
  std::uint64_t reported = 0;  // bytes in the ring
};

// Pure: counts how long a program has slept without any sign of life.
class StallCounter {
 public:
  // `seconds` since the last look. At most a quarter of a second counts, so that a
  // clew that was stopped itself does not blame the program.
  double look(const Pulse& pulse, double seconds);
  void reset() { stalled_ = 0; }

 private:
  Pulse last_;
  double stalled_ = 0;
};

// State and CPU time from the text of /proc/PID/stat; nothing if it is not one.
std::optional<Pulse> parse_proc_stat(std::string_view text);

struct SystemCall {
  long number = -1;
  std::array<std::uint64_t, 6> arguments{};
};
// From the text of /proc/PID/syscall; nothing while the program runs.
std::optional<SystemCall> parse_proc_syscall(std::string_view text);

std::optional<Pulse> pulse_of(pid_t pid);
bool has_children(pid_t pid);
// "process 7, whose threads wait for each other": one of its descendants, if all of them are like
// that, or wait for one that is. Only they themselves could end such waits.
std::optional<std::string> stuck_descendant(pid_t pid);
// Whether the call waits without a limit for what only a thread of its own process can do.
bool waits_within_process(const SystemCall& call);
std::optional<SystemCall> system_call_of(pid_t pid);

// True if the call may be waiting for the program's standard input (or polls at all).
bool waits_for_input(pid_t pid, const SystemCall& call);

// Notices that a program waits for a child process that never ends.
class StuckChildren {
 public:
  // Nothing: not so, or not for long enough.
  std::optional<std::string> look(bool waits_for_children_only, pid_t pid, double now);

 private:
  double last_ = 0;
  double since_ = 0;  // 0: it was not so
};

// "the program waits in accept(3) for something outside of it"
std::string describe_block(pid_t pid, const std::optional<SystemCall>& call);

// "every thread waits, and what they wait for has not come from outside: T0.1 in read of descriptor
// 5". The runtime says so itself (abi::Control::waits_outside), and may have named the waits.
std::string describe_outside(const Reports& reports);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_WATCHDOG_H_
