// A program that runs until its int3 instructions, to be looked at. Only tests include this.
#ifndef CLEW_HOST_NAMES_STOPPED_TEST_UTIL_H_
#define CLEW_HOST_NAMES_STOPPED_TEST_UTIL_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "host/names/machine.h"
#include "host/names/registers.h"

namespace clew {

class StoppedProgram {
 public:
  explicit StoppedProgram(const std::string& path) : path_(path) {
    pid_ = fork();
    if (pid_ == 0) {
      personality(ADDR_NO_RANDOMIZE);
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      execl(path.c_str(), path.c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    thread_ = pid_;
  }
  ~StoppedProgram() {
    if (memory_ >= 0) close(memory_);
    kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(-1, &status, __WALL) > 0) {
    }
  }
  StoppedProgram(const StoppedProgram&) = delete;
  StoppedProgram& operator=(const StoppedProgram&) = delete;

  // To the next int3 of any thread. False: it has ended.
  bool next() {
    ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
    for (;;) {
      int status = 0;
      const pid_t who = waitpid(-1, &status, __WALL);
      if (who < 0) return false;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (who == pid_) return false;
        continue;
      }
      if (WSTOPSIG(status) == SIGTRAP && status >> 16 == 0) {
        thread_ = who;
        ptrace(PTRACE_GETREGS, thread_, nullptr, &general_);
        ptrace(PTRACE_GETFPREGS, thread_, nullptr, &floating_);
        return true;
      }
      ptrace(PTRACE_CONT, who, nullptr,
             WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status));
    }
  }

  Registers registers() const {
    const user_regs_struct& r = general_;
    Registers result;
    result.pc = r.rip - 1;
    const std::uint64_t in_order[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp,
                                      r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
    for (unsigned i = 0; i < 16; ++i) result.values[i] = in_order[i];
    for (unsigned i = 0; i < 16; ++i)
      result.values[17 + i] = static_cast<std::uint64_t>(floating_.xmm_space[4 * i]) |
                              static_cast<std::uint64_t>(floating_.xmm_space[4 * i + 1]) << 32;
    return result;
  }
  std::uint64_t thread_pointer() const { return general_.fs_base; }

  ReadMemory reader() {
    if (memory_ < 0)
      memory_ = open(("/proc/" + std::to_string(pid_) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
    return [this](std::uint64_t address, std::span<std::uint8_t> into) {
      return pread(memory_, into.data(), into.size(), static_cast<off_t>(address)) ==
             static_cast<ssize_t>(into.size());
    };
  }

  std::string maps() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/maps");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // Where the program's own file begins: its bias, if it is position-independent.
  std::uint64_t base() const {
    std::istringstream lines(maps());
    for (std::string line; std::getline(lines, line);)
      if (line.ends_with(path_)) return std::stoull(line, nullptr, 16);
    return 0;
  }

 private:
  std::string path_;
  pid_t pid_ = -1;
  pid_t thread_ = -1;
  int memory_ = -1;
  user_regs_struct general_{};
  user_fpregs_struct floating_{};
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_STOPPED_TEST_UTIL_H_
