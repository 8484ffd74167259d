// Calls that make, copy, change and close descriptors.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "runtime/outside/descriptors.h"
#include "runtime/outside/signal_descriptors.h"
#include "runtime/outside/unrecorded.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/syscall/families.h"
#include "runtime/syscall/proc_threads.h"
#include "runtime/syscall/timers.h"

namespace clew::rt {
namespace {

// The call has made a new descriptor, whose number is the answer.
long made(const Call& call, bool inside) {
  const long fd = recorded(call);
  if (fd < 0) return fd;
  note_stream_made();
  forget_descriptor(static_cast<int>(fd));
  if (inside) note_inside(static_cast<int>(fd));
  return fd;
}

long made_pair(const Call& call, const int* fds) {
  const long result = recorded(call);
  if (result < 0) return result;
  note_stream_made();
  for (int i = 0; i < 2; ++i) {
    forget_descriptor(fds[i]);
    note_inside(fds[i]);
  }
  return result;
}

long copied(const Call& call) {
  const bool inside = !g_inputs.replaying() && descriptor(static_cast<int>(call.a[0])).inside;
  const long fd = recorded(call);
  if (fd < 0 || fd == call.a[0]) return fd;
  forget_descriptor(static_cast<int>(fd));
  if (inside) note_inside(static_cast<int>(fd));
  return fd;
}

// An epoll can be made ready by what is in it.
long epoll_changed(const Call& call) {
  if (!g_inputs.replaying() && call.a[1] == EPOLL_CTL_ADD &&
      !descriptor(static_cast<int>(call.a[2])).inside)
    descriptor(static_cast<int>(call.a[0])).inside = false;
  return recorded(call);
}

long option_set(const Call& call) {
  const long result = recorded(call);
  if (result != 0 || call.a[1] != SOL_SOCKET || call.a[3] == 0) return result;
  if (call.a[2] != SO_RCVTIMEO && call.a[2] != SO_SNDTIMEO) return result;
  const auto& length = *reinterpret_cast<const timeval*>(call.a[3]);
  Timeouts& timeouts = timeouts_of(static_cast<int>(call.a[0]));
  (call.a[2] == SO_RCVTIMEO ? timeouts.receive : timeouts.send) =
      length.tv_sec * 1'000'000'000 + length.tv_usec * 1000;
  return result;
}

bool is_fifo(const Call& call) {
  const bool at = call.number == SYS_openat;
  struct stat status;
  return raw_syscall(SYS_newfstatat, at ? call.a[0] : AT_FDCWD, at ? call.a[1] : call.a[0],
                     reinterpret_cast<long>(&status), 0) == 0 &&
         S_ISFIFO(status.st_mode);
}

void make_blocking(long fd) {
  raw_syscall(SYS_fcntl, fd, F_SETFL, raw_syscall(SYS_fcntl, fd, F_GETFL) & ~O_NONBLOCK);
}

bool fifo_has_reader(OutsideWait& wait) {
  auto& call = *static_cast<const Call*>(wait.data);
  const long fd = to_kernel(call);
  if (fd < 0) return fd != -ENXIO;
  raw_syscall(SYS_close, fd);
  return true;
}

// Opening a named pipe waits for the other end.
long open_fifo(const Call& call, int flags_at) {
  Call at_once = call;
  at_once.a[flags_at] |= O_NONBLOCK;
  const bool writes = (call.a[flags_at] & O_ACCMODE) == O_WRONLY;
  long fd = -1;
  if (writes) {
    while (has_to_wait(call, [&] { return (fd = to_kernel(at_once)) == -ENXIO; })) {
      const long error =
          wait_by_trying(call, abi::WaitKind::kDescriptor, fifo_has_reader, &at_once, {});
      if (error != kReady) return error;
    }
  } else {
    // That a writer has opened it cannot be seen before it writes or closes.
    if (!g_inputs.replaying()) fd = to_kernel(at_once);
    const auto no_writer = [&] {
      pollfd ready{static_cast<int>(fd), POLLIN, 0};
      return fd >= 0 && raw_syscall(SYS_poll, reinterpret_cast<long>(&ready), 1, 0) == 0;
    };
    if (has_to_wait(call, no_writer)) {
      const long error = wait_until_ready(call, static_cast<int>(fd), POLLIN, {});
      if (error != kReady) {
        if (!g_inputs.replaying()) raw_syscall(SYS_close, fd);
        return error;
      }
    }
  }
  return answered(call, [&] {
    if (fd >= 0) make_blocking(fd);
    return fd;
  });
}

long open_file(const Call& call) {
  return answered(call, [&] {
    const long fd = to_kernel(call);
    const long path = call.number == SYS_open ? call.a[0] : call.a[1];
    if (fd >= 0) tell_own_threads(reinterpret_cast<const char*>(path), static_cast<int>(fd));
    return fd;
  });
}

long opened(const Call& call) {
  const int flags_at = call.number == SYS_openat ? 2 : 1;
  const long flags = call.number == SYS_openat2 ? O_NONBLOCK : call.a[flags_at];
  const bool one_way = (flags & O_ACCMODE) != O_RDWR && (flags & (O_NONBLOCK | O_PATH)) == 0;
  // In a replay only the record that it waits tells a named pipe.
  const bool fifo = one_way && !g_inputs.replaying() && is_fifo(call);
  if (g_inputs.replaying() && one_way) return open_fifo(call, flags_at);
  const long fd = fifo ? open_fifo(call, flags_at) : open_file(call);
  if (fd >= 0) forget_descriptor(static_cast<int>(fd));
  return fd;
}

long closed(const Call& call) {
  const auto fd = static_cast<int>(call.a[0]);
  close_timer_descriptor(fd);
  close_signal_descriptor(fd);
  forget_descriptor(fd);
  return recorded(call);
}

long closed_range(const Call& call) {
  forget_descriptors(static_cast<unsigned>(call.a[0]), static_cast<unsigned>(call.a[1]));
  return recorded(call);
}

}  // namespace

long control_call(const Call& call) {
  if (call.number == SYS_fcntl) {
    if (call.a[1] == F_SETLKW || call.a[1] == F_OFD_SETLKW) return lock_call(call);
    if (call.a[1] == F_DUPFD || call.a[1] == F_DUPFD_CLOEXEC) return copied(call);
    if (call.a[1] == F_SETFL) forget_blocking();
    return recorded(call);
  }
  if (call.a[1] == FIONBIO) forget_blocking();
  const auto request = static_cast<unsigned long>(call.a[1]);
  if (!is_known_request(request)) note_request(request, static_cast<int>(call.a[0]));
  return recorded(call);
}

long descriptor_call(const Call& call) {
  switch (call.number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
      return opened(call);
    case SYS_close:
      return closed(call);
    case SYS_close_range:
      return closed_range(call);
    case SYS_dup:
      return copied(call);
    case SYS_dup2:
    case SYS_dup3:
      if (call.a[0] != call.a[1]) forget_descriptor(static_cast<int>(call.a[1]));
      return copied(call);
    case SYS_pipe:
    case SYS_pipe2:
      return made_pair(call, reinterpret_cast<const int*>(call.a[0]));
    case SYS_socketpair:
      return made_pair(call, reinterpret_cast<const int*>(call.a[3]));
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_epoll_create:
    case SYS_epoll_create1:
      return made(call, true);
    case SYS_socket:
    case SYS_inotify_init:
    case SYS_inotify_init1:
      return made(call, false);
    case SYS_epoll_ctl:
      return epoll_changed(call);
    case SYS_setsockopt:
      return option_set(call);
    default:
      return recorded(call);
  }
}

}  // namespace clew::rt
