// A program under ptrace: one kernel thread, whose registers and memory can be read and written,
// and that runs until something stops it.
//
// Breakpoint instructions are in its memory only while it runs: who reads the memory never sees
// them. All calls come from the thread that called attach(), as the kernel demands. SIGCHLD is
// blocked in all threads of clew.
#ifndef CLEW_HOST_DEBUG_TRACEE_H_
#define CLEW_HOST_DEBUG_TRACEE_H_

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/recording/file.h"

namespace clew::debug {

// As the protocol of gdb numbers them (Z1 to Z4 use the processor's debug registers; Z1 is
// treated like a breakpoint in memory).
enum class WatchKind : std::uint8_t { kWrite, kRead, kAccess };

struct Watch {
  std::uint64_t address;
  std::uint64_t size;  // 1, 2, 4 or 8, and a multiple of it is the address
  WatchKind kind;
  auto operator<=>(const Watch&) const = default;
};

struct Stop {
  enum class Kind : std::uint8_t {
    kStep,        // the instruction was executed
    kBreakpoint,  // the program counter is at one that was set
    kWatch,       // one of watches() was triggered by the instruction before
    kRuntime,     // clew's runtime stopped: see abi::DebugStop
    kSignal,      // is about to be delivered
    kInterrupt,   // interrupt() was called
    kEnded,
  };
  Kind kind;
  int signal = 0;
  bool by_timer = false;           // kSignal: of the kernel's. Those of the program are clew's
  std::uint64_t runtime_stop = 0;  // kRuntime: abi::DebugStop
  std::uint64_t table = 0;         // kRuntime: where the abi::DebugTable is
  Watch watch = {};                // kWatch
};

class Tracee {
 public:
  // The program waits until the debugger is ready.
  [[nodiscard]] static Result<Tracee> attach(pid_t pid);
  Tracee(Tracee&&) = default;
  Tracee& operator=(Tracee&&) = default;

  pid_t pid() const { return pid_; }
  bool ended() const { return ended_; }

  const user_regs_struct& registers();
  void set_registers(const user_regs_struct& registers);
  user_fpregs_struct float_registers() const;
  void set_float_registers(const user_fpregs_struct& registers) const;

  // How many bytes could be read or written.
  std::size_t read(std::uint64_t address, std::span<std::uint8_t> bytes) const;
  std::size_t write(std::uint64_t address, std::span<const std::uint8_t> bytes) const;
  std::uint64_t read_number(std::uint64_t address) const;

  using Breakpoints = std::set<std::uint64_t>;
  // Those that `resume` obeys.
  void set_breakpoints(Breakpoints breakpoints) { breakpoints_ = std::move(breakpoints); }
  // False: the processor has no room for them.
  [[nodiscard]] bool set_watches(const std::set<Watch>& watches);

  // One instruction, without looking at breakpoints. `signal` is delivered first.
  Stop step(int signal = 0);
  // Lets it run. wait() tells how it stopped.
  void resume(int signal = 0);
  // Nothing, if `descriptor` becomes readable before it stops.
  std::optional<Stop> wait(int descriptor = -1);
  void interrupt() const;
  void kill_now() const;

 private:
  Tracee(pid_t pid, FileDescriptor memory, FileDescriptor children)
      : pid_(pid), memory_(std::move(memory)), children_(std::move(children)) {}
  Stop stop_of(int status);
  Stop trap();
  std::optional<Watch> triggered() const;
  void remove_breakpoints();
  std::optional<int> take_status(int how);

  pid_t pid_;
  FileDescriptor memory_;
  FileDescriptor children_;  // readable when one has stopped or ended
  bool ended_ = false;
  bool stepping_ = false;
  Breakpoints breakpoints_;
  std::map<std::uint64_t, std::uint8_t> inserted_;  // what was there
  std::vector<Watch> watches_;
  std::optional<user_regs_struct> registers_;
};

}  // namespace clew::debug

#endif  // CLEW_HOST_DEBUG_TRACEE_H_
