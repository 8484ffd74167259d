#include "cli/gdb.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/debug/gdb_server.h"
#include "host/recording/file.h"
#include "host/recording/start_file.h"
#include "host/target/program.h"

namespace clew::cli {
namespace {

std::unexpected<Error> system_fault(const char* what) {
  return fail(ErrorCode::kSystem, fmt::format("{}: {}", what, std::strerror(errno)));
}

// What gdb connects to: a socket in a folder of its own.
class Meeting {
 public:
  static Result<Meeting> arrange() {
    Meeting meeting;
    std::string folder = (std::filesystem::temp_directory_path() / "clew-gdb-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return system_fault("cannot create a folder for gdb");
    meeting.folder_ = folder;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (meeting.place().size() >= sizeof address.sun_path)
      return fail(ErrorCode::kSystem, "the path of the temporary folder is too long");
    std::strcpy(address.sun_path, meeting.place().c_str());
    meeting.socket_ = FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (bind(meeting.socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(meeting.socket_.get(), 1) != 0)
      return system_fault("cannot open a socket for gdb");
    return meeting;
  }
  Meeting(Meeting&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), socket_(std::move(other.socket_)) {}
  ~Meeting() { leave(); }

  std::string place() const { return (folder_ / "socket").string(); }
  // Not valid: gdb ended before it came. The folder is gone then.
  FileDescriptor await(int gdb) {
    pollfd ready[] = {{socket_.get(), POLLIN, 0}, {gdb, POLLIN, 0}};
    while (poll(ready, 2, -1) < 0 && errno == EINTR) {
    }
    FileDescriptor connection;
    if ((ready[0].revents & POLLIN) != 0)
      connection = FileDescriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    leave();
    return connection;
  }

 private:
  Meeting() = default;
  void leave() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(std::exchange(folder_, {}), ignored);
  }

  std::filesystem::path folder_;
  FileDescriptor socket_;
};

std::string sysroot_of(const LaunchPlan& plan) {
  if (!is_start_file(plan.started_as)) return "";
  return (std::filesystem::path(plan.started_as).parent_path() / "root").string();
}

std::vector<std::string> gdb_command(const std::string& gdb, const std::string& commands,
                                     const Replay& replay, const Meeting& meeting,
                                     const std::vector<std::string>& extra) {
  std::vector<std::string> command{
      gdb,
      "-q",
      // Files are here, not at the other end of the connection; those of an imported recording are
      // in its folder.
      "-iex",
      fmt::format("set sysroot {}", sysroot_of(replay.plan)),
      // A replay to an earlier place takes as long as it takes.
      "-iex",
      "set remotetimeout 86400",
      // libthread_db would take the fibers' thread control blocks for threads of the kernel's.
      "-iex",
      "set auto-load libthread-db off",
      "-iex",
      "set libthread-db-search-path /nonexistent",
      "-iex",
      "set confirm off",
      // How the runtime sees system calls.
      "-iex",
      "handle SIGSYS nostop noprint pass",
      replay.plan.program,
      "-ex",
      fmt::format("target extended-remote {}", meeting.place()),
      // In a namespace of its own: the user's scripts may use any names.
      "-ex",
      fmt::format("python exec(compile(open('{0}').read(), '{0}', 'exec'), "
                  "{{'__name__': 'clew_gdb'}})",
                  commands),
      "-ex",
      "tbreak main",
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

// Clew's own commands for gdb, beside the runtime.
Result<std::string> find_commands() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto commands = self.parent_path().parent_path() / "lib" / "clew" / "clew_gdb.py";
  if (error || !std::filesystem::exists(commands, error))
    return fail(ErrorCode::kSystem, fmt::format("{} is missing", commands.string()),
                "reinstall clew");
  return commands.string();
}

}  // namespace

Result<void> replay_in_gdb(const Replay& replay, const std::vector<std::string>& extra_arguments) {
  const auto gdb = find_program("gdb");
  if (!gdb) return fail(ErrorCode::kSystem, "gdb was not found in PATH", "install gdb");
  CLEW_TRY(const auto commands, find_commands());
  CLEW_TRY(auto meeting, Meeting::arrange());
  signal(SIGINT, SIG_IGN);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);  // as debug::Tracee demands

  debug::GdbServer server(replay);
  CLEW_CHECK_OK(server.begin());
  CLEW_TRY(const pid_t pid, spawn(gdb_command(*gdb, commands, replay, meeting, extra_arguments)));
  const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  {
    const FileDescriptor connection = meeting.await(ended.get());
    if (connection.valid()) server.serve(connection.get());
  }
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  signal(SIGINT, SIG_DFL);
  return {};
}

}  // namespace clew::cli
