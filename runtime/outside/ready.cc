#include "runtime/outside/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include <initializer_list>

#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

constexpr int kMost = 1 << 20;  // as in descriptors.cc

// A set as select() takes it.
struct Set {
  std::uint64_t words[kMost / 64];
  void add(int fd) { words[fd / 64] |= std::uint64_t{1} << (fd % 64); }
  bool has(int fd) const { return (words[fd / 64] >> (fd % 64) & 1) != 0; }
};
Set g_in;
Set g_out;
Set g_urgent;

bool is_open(int fd) { return fd < kMost && raw_syscall(SYS_fcntl, fd, F_GETFD) >= 0; }

struct Mask {
  const std::uint64_t* set;
  std::size_t size;
};

void ask_select(pollfd* fds, std::size_t count, timespec timeout, const Mask& mask) {
  int end = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (fds[i].fd >= end && fds[i].fd < kMost) end = fds[i].fd + 1;
  const std::size_t size = static_cast<std::size_t>(end + 63) / 64 * 8;
  for (Set* set : {&g_in, &g_out, &g_urgent}) memset(set->words, 0, size);
  bool bad = false;
  for (std::size_t i = 0; i < count; ++i) {
    fds[i].revents = fds[i].fd >= 0 && !is_open(fds[i].fd) ? POLLNVAL : 0;
    bad |= fds[i].revents != 0;
    if (fds[i].fd < 0 || fds[i].revents != 0) continue;
    if ((fds[i].events & POLLIN) != 0) g_in.add(fds[i].fd);
    if ((fds[i].events & POLLOUT) != 0) g_out.add(fds[i].fd);
    if ((fds[i].events & POLLPRI) != 0) g_urgent.add(fds[i].fd);
  }
  if (bad) timeout = {0, 0};
  if (raw_syscall(SYS_pselect6, end, reinterpret_cast<long>(&g_in), reinterpret_cast<long>(&g_out),
                  reinterpret_cast<long>(&g_urgent), reinterpret_cast<long>(&timeout),
                  reinterpret_cast<long>(&mask)) <= 0)
    return;
  for (std::size_t i = 0; i < count; ++i) {
    const int fd = fds[i].fd;
    if (fd < 0 || fds[i].revents != 0) continue;
    if ((fds[i].events & POLLIN) != 0 && g_in.has(fd)) fds[i].revents |= POLLIN;
    if ((fds[i].events & POLLOUT) != 0 && g_out.has(fd)) fds[i].revents |= POLLOUT;
    if ((fds[i].events & POLLPRI) != 0 && g_urgent.has(fd)) fds[i].revents |= POLLPRI;
  }
}

}  // namespace

void find_ready(pollfd* fds, std::size_t count, const timespec& timeout, LetsIn lets_in) {
  const std::uint64_t none = 0;
  const Mask mask{lets_in == LetsIn::kSignals ? &none : nullptr, sizeof none};
  timespec left = timeout;
  for (std::size_t i = 0; i < count; ++i) fds[i].revents = 0;
  const long result = raw_syscall(SYS_ppoll, reinterpret_cast<long>(fds), static_cast<long>(count),
                                  reinterpret_cast<long>(&left), reinterpret_cast<long>(mask.set),
                                  static_cast<long>(mask.size));
  if (CLEW_UNLIKELY(result == -EINVAL)) ask_select(fds, count, timeout, mask);
}

bool is_ready(int fd, short events) {
  pollfd asked{fd, events, 0};
  find_ready(&asked, 1, {0, 0}, LetsIn::kNothing);
  return asked.revents != 0;
}

}  // namespace clew::rt
