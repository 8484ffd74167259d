#include "host/target/forward_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace clew {
namespace {

constexpr int kFirst = 3;  // where the pipes are in the process left behind

// Only system calls from here on: clew may have threads.

bool write_all(int to, const char* data, ssize_t size) {
  while (size > 0) {
    const ssize_t written = write(to, data, static_cast<std::size_t>(size));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd ready{to, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) return false;
    data += written;
    size -= written;
  }
  return true;
}

// False: the end of the pipe was reached, or the reader is gone.
bool forward_piece(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(from, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  return size > 0 && write_all(to, buffer.data(), size);
}

[[noreturn]] void forward_until_closed() {
  std::array<pollfd, 2> from{{{kFirst, POLLIN, 0}, {kFirst + 1, POLLIN, 0}}};
  for (pollfd& one : from)
    if (fcntl(one.fd, F_GETFD) < 0) one.fd = -1;
  while (from[0].fd >= 0 || from[1].fd >= 0) {
    if (poll(from.data(), from.size(), -1) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      pollfd& one = from[static_cast<std::size_t>(i)];
      if (one.fd < 0 || one.revents == 0 || forward_piece(one.fd, STDOUT_FILENO + i)) continue;
      close(one.fd);
      close(STDOUT_FILENO + i);
      one.fd = -1;
    }
  }
  _exit(0);
}

// Keeps nothing of clew except where the output goes: neither locks nor folders nor the terminal.
void detach_from_clew(std::array<int, 2> pipes) {
  for (int& fd : pipes)
    if (fd >= 0) fd = fcntl(fd, F_DUPFD, kFirst + 2);
  for (int i = 0; i < 2; ++i) {
    const int fd = pipes[static_cast<std::size_t>(i)];
    if (fd < 0 || dup2(fd, kFirst + i) < 0) {
      close(kFirst + i);
      close(STDOUT_FILENO + i);
    }
  }
  close(STDIN_FILENO);
  syscall(SYS_close_range, static_cast<unsigned>(kFirst + 2), ~0u, 0u);
  setsid();
  [[maybe_unused]] const int folder = chdir("/");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void forward_output(int output, int errors) {
  if (output < 0 && errors < 0) return;
  const pid_t middle = fork();
  if (middle == 0) {
    detach_from_clew({output, errors});
    if (fork() == 0) forward_until_closed();
    _exit(0);
  }
  while (middle > 0 && waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace clew
