#include "host/search/criteria_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "host/recording/file.h"
#include "host/target/orphans.h"
#include "host/time_limit.h"

namespace clew {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 50;  // how long a signal to clew may go unnoticed
constexpr std::size_t kChunk = 1 << 16;

std::unexpected<Error> refused(const char* what) {
  return fail(ErrorCode::kSystem, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

struct Pipe {
  FileDescriptor reading, writing;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return refused("make a pipe");
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool put_in_place(int from, int number) {
  // A descriptor that already has the number would stay close-on-exec after dup2.
  return from == number ? fcntl(number, F_SETFD, 0) == 0 : dup2(from, number) == number;
}

// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const Command& command, std::array<int, 3> streams, int notice,
                         pid_t parent, char* const* arguments, char* const* environment) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bool ready = command.working_folder.empty() || chdir(command.working_folder.c_str()) == 0;
  for (int& fd : streams) ready = ready && (fd = fcntl(fd, F_DUPFD_CLOEXEC, 10)) >= 0;
  for (int number = 0; number < 3; ++number)
    ready = ready && put_in_place(streams[static_cast<std::size_t>(number)], number);
  if (ready) {
    syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
    execve(command.program.c_str(), arguments, environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = write(notice, &error, sizeof error);
  _exit(127);
}

bool clew_is_to_end() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
         sigismember(&pending, SIGHUP) == 1;
}

// Takes what is there. False: the other end is closed.
bool drain(int fd, std::string& into, std::size_t most) {
  std::array<char, kChunk> buffer;
  for (;;) {
    const ssize_t size = read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    if (size <= 0) return false;
    into.append(buffer.data(), std::min(static_cast<std::size_t>(size), most - into.size()));
  }
}

struct Streams {
  FileDescriptor output, errors;
};

// Until the process has ended or has to be: nothing more, because what it started may hold the
// pipes open for ever.
void follow(const Command& command, int pidfd, Streams& streams, CommandEnd& end) {
  const double seconds = std::min(command.seconds, TimeLimit::seconds_left());
  const auto deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                 std::chrono::duration<double>(seconds));
  fcntl(streams.output.get(), F_SETFL, O_NONBLOCK);
  fcntl(streams.errors.get(), F_SETFL, O_NONBLOCK);
  std::array<pollfd, 3> watched{
      {{pidfd, POLLIN, 0}, {streams.output.get(), POLLIN, 0}, {streams.errors.get(), POLLIN, 0}}};
  while (watched[0].revents == 0) {
    if (clew_is_to_end()) {
      end.how = CommandEnd::How::kInterrupted;
      return;
    }
    if (SteadyClock::now() >= deadline) {
      end.how = CommandEnd::How::kTimeLimit;
      return;
    }
    for (pollfd& one : watched) one.revents = 0;
    poll(watched.data(), watched.size(), kPollMilliseconds);
    if (watched[1].revents != 0 && !drain(watched[1].fd, end.output, command.most_output))
      watched[1].fd = -1;
    if (watched[2].revents != 0 && !drain(watched[2].fd, end.errors, command.most_output))
      watched[2].fd = -1;
  }
  drain(streams.output.get(), end.output, command.most_output);
  drain(streams.errors.get(), end.errors, command.most_output);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void note_status(int status, CommandEnd& end) {
  if (end.how != CommandEnd::How::kExited) return;
  if (WIFSIGNALED(status)) {
    end.how = CommandEnd::How::kKilled;
    end.status = WTERMSIG(status);
  } else {
    end.status = WEXITSTATUS(status);
  }
}

}  // namespace

Result<CommandEnd> run_command(const Command& command) {
  CLEW_TRY(auto input, MemoryFile::create(command.input));
  auto output = make_pipe();
  auto errors = make_pipe();
  auto notice = make_pipe();
  for (const auto* made : {&output, &errors, &notice}) CLEW_CHECK_OK(*made);

  const std::vector<char*> arguments = pointers(command.arguments);
  // What it starts is known by it, wherever it goes.
  static std::atomic<std::uint64_t> count = 0;
  const std::string mark = fmt::format("CLEW_JUDGE={}.{}", getpid(), ++count);
  std::vector<std::string> variables = command.environment;
  variables.push_back(mark);
  const std::vector<char*> environment = pointers(variables);
  const pid_t parent = getpid();
  const pid_t pid = fork_own_child();
  if (pid == 0)
    become(command, {input.descriptor(), output->writing.get(), errors->writing.get()},
           notice->writing.get(), parent, arguments.data(), environment.data());
  if (pid < 0) return refused("start a process");
  for (auto* made : {&output, &errors, &notice}) (*made)->writing = FileDescriptor();

  CommandEnd end;
  int error = 0;
  ssize_t told = 0;
  while ((told = read(notice->reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (told == sizeof error) {
    wait_for(pid);
    forget_own_child(pid);
    end.how = CommandEnd::How::kNotStarted;
    end.status = error;
    return end;
  }
  const FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd.valid()) {
    Streams streams{std::move(output->reading), std::move(errors->reading)};
    follow(command, pidfd.get(), streams, end);
  }
  kill(-pid, SIGKILL);  // the group, the process included while it is not waited for
  const int status = wait_for(pid);
  forget_own_child(pid);
  end_orphans_with(mark);
  if (!pidfd.valid()) return refused("watch a process");
  note_status(status, end);
  return end;
}

Result<MemoryFile> MemoryFile::create(std::string_view text) {
  MemoryFile file(memfd_create("clew", MFD_CLOEXEC));
  if (file.fd_ < 0) return refused("make a file in memory");
  while (!text.empty()) {
    const ssize_t size = write(file.fd_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return refused("write a file in memory");
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  lseek(file.fd_, 0, SEEK_SET);
  return file;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
MemoryFile::~MemoryFile() {
  if (fd_ >= 0) close(fd_);
}

std::string MemoryFile::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), fd_); }

}  // namespace clew
