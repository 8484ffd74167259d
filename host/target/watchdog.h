// Distinguishes a program that sleeps in the kernel forever from one that works or waits for its
// user. All threads are fibers on one kernel thread: while that sleeps, no thread of the program
// can run.
#ifndef CLEW_HOST_TARGET_WATCHDOG_H_
#define CLEW_HOST_TARGET_WATCHDOG_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/target/run_result.h"

namespace clew {

inline constexpr double kBlockedSeconds = 5;
// Events from outside may take some time.
inline constexpr double kOutsideSeconds = 10;
// A child process may work or sleep for a long time.
inline constexpr double kChildrenSeconds = 600;

// What can change between two looks at a program.
struct Pulse {
  char state = '?';  // of /proc/PID/stat
  std::uint64_t cpu_ticks = 0;
  std::uint64_t clock = 0;
  std::uint64_t reported = 0;  // bytes in the ring
};

// Counts how long a program has slept without any sign of progress. Pure.
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

// State and CPU time from the text of /proc/PID/stat; empty if the text is malformed.
std::optional<Pulse> parse_proc_stat(std::string_view text);

struct SystemCall {
  long number = -1;
  std::array<std::uint64_t, 6> arguments{};
};
// From the text of /proc/PID/syscall; empty while the program runs.
std::optional<SystemCall> parse_proc_syscall(std::string_view text);

std::optional<Pulse> pulse_of(pid_t pid);
bool has_children(pid_t pid);
// "process 7, whose threads wait for each other": one of its descendants, if all of them are in
// this state, or wait for one that is. Only they themselves could end such waits.
std::optional<std::string> stuck_descendant(pid_t pid);
// Whether the call waits without a time limit for something that only a thread of its own process
// can do.
bool waits_within_process(const SystemCall& call);
std::optional<SystemCall> system_call_of(pid_t pid);

// True if the call may be waiting for the program's standard input (or polls at all).
bool waits_for_input(pid_t pid, const SystemCall& call);

// Detects that a program waits for a child process that never ends.
class StuckChildren {
 public:
  // Empty: it does not, or not for long enough.
  std::optional<std::string> look(bool waits_for_children_only, pid_t pid, double now);

 private:
  double last_ = 0;
  double since_ = 0;  // 0: it did not
};

// "the program is blocked in accept of descriptor 3, and all of its threads with it"
std::string describe_block(pid_t pid, const std::optional<SystemCall>& call);

// "the listener /a/b.so does not return": one of those that are loaded, by its text of LaunchPlan.
std::string describe_listener(const std::vector<std::string>& listeners);

// "every thread is blocked, and what they wait for has not come from outside: T0.1 in read of
// descriptor 5". The runtime says so itself (abi::Control::waits_outside), and may have named the
// waits.
std::string describe_outside(const Reports& reports);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_WATCHDOG_H_
