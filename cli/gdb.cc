#include "cli/gdb.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <utility>

#include "clew_abi/control.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

std::vector<std::string> gdb_command(const std::string& gdb, const std::string& commands, pid_t pid,
                                     const std::vector<std::string>& extra) {
  const std::uintptr_t ready = abi::kControlAddress + offsetof(abi::Control, debugger_ready);
  std::vector<std::string> command{
      gdb,
      "-q",
      // libthread_db would take the fibers' thread control blocks for threads of the kernel's. The
      // first keeps gdb from loading the one beside libc, the second from finding the system's.
      "-iex",
      "set auto-load libthread-db off",
      "-iex",
      "set libthread-db-search-path /nonexistent",
      "-iex",
      "set confirm off",
      // How the runtime sees system calls.
      "-iex",
      "handle SIGSYS nostop noprint pass",
      "-p",
      std::to_string(pid),
      "-ex",
      "source " + commands,
      "-ex",
      "tbreak main",
      "-ex",
      fmt::format("set {{unsigned int}} {:#x} = 1", ready),
      "-ex",
      "continue",
  };
  command.insert(command.end(), extra.begin(), extra.end());
  return command;
}

Result<pid_t> spawn(const std::vector<std::string>& command) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t set;
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  for (const int number : {SIGINT, SIGPIPE, SIGTERM, SIGHUP}) sigaddset(&set, number);
  posix_spawnattr_setsigdefault(&attributes, &set);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(ErrorCode::kSystem, fmt::format("cannot start gdb: {}", std::strerror(error)));
  return pid;
}

}  // namespace

Result<std::unique_ptr<GdbSession>> GdbSession::prepare(std::vector<std::string> extra_arguments) {
  auto gdb = find_program("gdb");
  if (!gdb) return fail(ErrorCode::kSystem, "gdb was not found in PATH", "install gdb");
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto commands = self.parent_path().parent_path() / "lib" / "clew" / "clew_gdb.py";
  if (error || !std::filesystem::exists(commands, error))
    return fail(ErrorCode::kSystem, fmt::format("{} is missing", commands.string()),
                "reinstall clew");
  std::unique_ptr<GdbSession> session(new GdbSession);
  session->gdb_ = std::move(*gdb);
  session->commands_ = commands.string();
  session->extra_ = std::move(extra_arguments);
  signal(SIGINT, SIG_IGN);
  return session;
}

GdbSession::~GdbSession() {
  wait();
  signal(SIGINT, SIG_DFL);
}

Result<int> GdbSession::attached(pid_t pid) {
  CLEW_TRY(auto gdb, spawn(gdb_command(gdb_, commands_, pid, extra_)));
  pid_ = gdb;
  pidfd_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_.valid())
    return fail(ErrorCode::kSystem, fmt::format("cannot watch gdb: {}", std::strerror(errno)));
  return pidfd_.get();
}

void GdbSession::wait() {
  if (pid_ < 0) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace clew::cli
