#include "host/debug/tracee.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "clew_abi/debug.h"

namespace clew::debug {
namespace {

constexpr std::uint8_t kBreakpointInstruction = 0xcc;
constexpr std::size_t kDebugRegisters = 4;
constexpr int kControl = 7;
constexpr int kStatus = 6;

std::size_t debug_register(int number) {
  return offsetof(user, u_debugreg) + static_cast<std::size_t>(number) * sizeof(long);
}

bool poke(pid_t pid, int number, std::uint64_t value) {
  return ptrace(PTRACE_POKEUSER, pid, debug_register(number), value) == 0;
}

// The bits of debug register 7 for the register `index`.
std::uint64_t control_bits(const Watch& watch, std::size_t index) {
  const std::uint64_t length = watch.size == 8 ? 2 : watch.size - 1;
  // The processor has no watch for reading alone.
  const std::uint64_t access = watch.kind == WatchKind::kWrite ? 1 : 3;
  return (1ull << (index * 2)) | ((access | length << 2) << (16 + index * 4));
}

}  // namespace

Result<Tracee> Tracee::attach(pid_t pid) {
  FileDescriptor memory(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (!memory.valid())
    return fail(ErrorCode::kSystem,
                fmt::format("cannot read the program's memory: {}", std::strerror(errno)));
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  FileDescriptor children(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL) != 0)
    return fail(ErrorCode::kSystem,
                fmt::format("cannot control the program (ptrace: {})", std::strerror(errno)),
                "in a container: --cap-add=SYS_PTRACE");
  return Tracee(pid, std::move(memory), std::move(children));
}

const user_regs_struct& Tracee::registers() {
  if (!registers_) {
    registers_.emplace();
    ptrace(PTRACE_GETREGS, pid_, 0, &*registers_);
  }
  return *registers_;
}

void Tracee::set_registers(const user_regs_struct& registers) {
  registers_ = registers;
  ptrace(PTRACE_SETREGS, pid_, 0, &*registers_);
}

user_fpregs_struct Tracee::float_registers() const {
  user_fpregs_struct result{};
  ptrace(PTRACE_GETFPREGS, pid_, 0, &result);
  return result;
}

void Tracee::set_float_registers(const user_fpregs_struct& registers) const {
  ptrace(PTRACE_SETFPREGS, pid_, 0, &registers);
}

std::size_t Tracee::read(std::uint64_t address, std::span<std::uint8_t> bytes) const {
  const ssize_t got = pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

std::size_t Tracee::write(std::uint64_t address, std::span<const std::uint8_t> bytes) const {
  const ssize_t put =
      pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  return put < 0 ? 0 : static_cast<std::size_t>(put);
}

std::uint64_t Tracee::read_number(std::uint64_t address) const {
  std::uint64_t number = 0;
  read(address, {reinterpret_cast<std::uint8_t*>(&number), sizeof number});
  return number;
}

bool Tracee::set_watches(const std::set<Watch>& watches) {
  if (watches.size() > kDebugRegisters) return false;
  std::uint64_t control = 0;
  if (!poke(pid_, kControl, 0)) return watches.empty();
  watches_.assign(watches.begin(), watches.end());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (!poke(pid_, static_cast<int>(i), watches_[i].address)) return false;
    control |= control_bits(watches_[i], i);
  }
  return poke(pid_, kControl, control);
}

std::optional<Watch> Tracee::triggered() const {
  errno = 0;
  const auto status =
      static_cast<std::uint64_t>(ptrace(PTRACE_PEEKUSER, pid_, debug_register(kStatus), 0));
  for (std::size_t i = 0; i < watches_.size(); ++i)
    if ((status >> i & 1) != 0) {
      poke(pid_, kStatus, 0);
      return watches_[i];
    }
  return std::nullopt;
}

Stop Tracee::step(int signal) {
  registers_.reset();
  stepping_ = true;
  if (ptrace(PTRACE_SINGLESTEP, pid_, 0, signal) != 0) ended_ = true;
  return *wait();
}

void Tracee::resume(int signal) {
  registers_.reset();
  stepping_ = false;
  for (const std::uint64_t address : breakpoints_) {
    std::uint8_t before = 0;
    if (read(address, {&before, 1}) != 1 || write(address, {&kBreakpointInstruction, 1}) != 1)
      continue;
    inserted_[address] = before;
  }
  if (ptrace(PTRACE_CONT, pid_, 0, signal) != 0) ended_ = true;
}

void Tracee::remove_breakpoints() {
  for (const auto& [address, before] : inserted_) write(address, {&before, 1});
}

// The end of the program is left for whoever started it.
std::optional<int> Tracee::take_status(int how) {
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info,
                WSTOPPED | WEXITED | WNOWAIT | __WALL | how) != 0) {
    if (errno == EINTR) continue;
    ended_ = true;  // and is waited for by now
    return std::nullopt;
  }
  if (info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
    ended_ = true;
    return std::nullopt;
  }
  int status = 0;
  if (waitpid(pid_, &status, __WALL) != pid_) ended_ = true;
  return status;
}

std::optional<Stop> Tracee::wait(int descriptor) {
  for (;;) {
    const auto status = ended_ ? std::nullopt : take_status(descriptor < 0 ? 0 : WNOHANG);
    if (ended_) return Stop{.kind = Stop::Kind::kEnded};
    if (status) {
      const Stop stop = stop_of(*status);
      inserted_.clear();
      return stop;
    }
    constexpr int kAtMost = 100;  // milliseconds, if a signal should get lost
    pollfd ready[] = {{children_.get(), POLLIN, 0}, {descriptor, POLLIN, 0}};
    poll(ready, 2, kAtMost);
    signalfd_siginfo info;
    while (::read(children_.get(), &info, sizeof info) == sizeof info) {
    }
    if (ready[1].revents != 0) return std::nullopt;
  }
}

Stop Tracee::stop_of(int status) {
  remove_breakpoints();
  const int signal = WSTOPSIG(status);
  if (status >> 16 == PTRACE_EVENT_STOP) return {.kind = Stop::Kind::kInterrupt};
  if (signal == SIGTRAP) return trap();
  siginfo_t info{};
  ptrace(PTRACE_GETSIGINFO, pid_, 0, &info);
  return {.kind = Stop::Kind::kSignal, .signal = signal, .by_timer = info.si_code == SI_TIMER};
}

Stop Tracee::trap() {
  if (const auto watch = triggered()) return {.kind = Stop::Kind::kWatch, .watch = *watch};
  siginfo_t info{};
  ptrace(PTRACE_GETSIGINFO, pid_, 0, &info);
  const user_regs_struct& now = registers();
  if (info.si_code == SI_KERNEL) {  // a breakpoint instruction
    if (inserted_.contains(now.rip - 1)) {
      user_regs_struct back = now;
      back.rip -= 1;
      set_registers(back);
      return {.kind = Stop::Kind::kBreakpoint};
    }
    if (now.rax == abi::kDebugMagic)
      return {.kind = Stop::Kind::kRuntime, .runtime_stop = now.rdi, .table = now.rsi};
  }
  if (stepping_ && info.si_code != SI_USER && info.si_code != SI_TKILL)
    return {.kind = Stop::Kind::kStep};
  return {.kind = Stop::Kind::kSignal, .signal = SIGTRAP};
}

void Tracee::interrupt() const { ptrace(PTRACE_INTERRUPT, pid_, 0, 0); }

void Tracee::kill_now() const {
  if (!ended_) kill(pid_, SIGKILL);
}

}  // namespace clew::debug
