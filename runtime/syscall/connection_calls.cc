// Connections: accepting and making them.
#include <sys/socket.h>

#include "runtime/outside/descriptors.h"
#include "runtime/outside/foreign.h"
#include "runtime/outside/ready.h"
#include "runtime/signal/cancel.h"
#include "runtime/syscall/transfer.h"

namespace clew::rt {
namespace {

bool is_blocking_socket(int fd) {
  const Descriptor& known = descriptor(fd);
  return known.blocking && known.leads == Leads::kSocket;
}

bool listens(int fd) {
  int answer = 0;
  socklen_t size = sizeof answer;
  raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN, reinterpret_cast<long>(&answer),
              reinterpret_cast<long>(&size));
  return answer != 0;
}

// The kernel allocates a descriptor before it waits.
bool has_number_left(int fd) {
  const long copy = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) raw_syscall(SYS_close, copy);
  return copy >= 0;
}

bool has_good_flags(const Call& call) {
  return call.number == SYS_accept || (call.a[3] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == 0;
}

struct Connecting {
  const Call& call;
  long result = 0;
  bool again() {
    result = without_waiting(fd_of(call), [&] { return to_kernel(call); });
    return result != -EAGAIN;
  }
};

bool connect_again(OutsideWait& wait) {
  return static_cast<Connecting*>(const_cast<void*>(wait.data))->again();
}

}  // namespace

long accepted(const Call& call) {
  const int fd = fd_of(call);
  const Patience patience = patience_of(timeouts_of(fd).receive);
  long result = -EAGAIN;
  const auto would_block = [&] {
    // Another process that listens to the socket may be faster; while this one has its turn, accept
    // does not block.
    const Turn turn;
    if (!is_blocking_socket(fd) || !listens(fd)) return false;
    if (!is_ready(fd, POLLIN)) return has_good_flags(call) && has_number_left(fd);
    if (!g_other_processes) return false;
    result = without_waiting(fd, [&] { return to_kernel(call); });
    return result == -EAGAIN;
  };
  while (has_to_wait(call, would_block)) {
    const long error = wait_until_ready(call, fd, POLLIN, patience);
    if (error == kCancelled) return error;
    if (error != kReady) return answered(call, [&] { return end_of_wait(error); });
  }
  const long made = answered(call, [&] { return result != -EAGAIN ? result : to_kernel(call); });
  if (made >= 0) forget_descriptor(static_cast<int>(made));
  return made;
}

long connected(const Call& call) {
  const int fd = fd_of(call);
  const Patience patience = patience_of(timeouts_of(fd).send);
  Connecting connecting{call};
  const long& result = connecting.result;
  bool done = false;
  // EALREADY: an earlier call was interrupted; this one waits for the same connection.
  const auto would_block = [&] {
    if (!is_blocking_socket(fd)) return false;
    done = true;
    connecting.again();
    return result == -EINPROGRESS || result == -EALREADY;
  };
  if (!has_to_wait(call, would_block)) {
    // A local socket whose queue is full.
    if (has_to_wait(call, [&] { return done && result == -EAGAIN; })) {
      const long error =
          wait_by_trying(call, abi::WaitKind::kDescriptor, connect_again, &connecting, patience);
      if (error == kCancelled) return error;
      if (error != kReady) return answered(call, [&] { return end_of_wait(error); });
    }
    return answered(call, [&] { return done ? result : to_kernel(call); });
  }
  const long error = wait_until_ready(call, fd, POLLOUT, patience);
  if (error == kCancelled) return error;
  return answered(call, [&]() -> long {
    if (error != kReady) return error == -ETIMEDOUT ? -EINPROGRESS : error;
    int problem = 0;
    socklen_t size = sizeof problem;
    raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, reinterpret_cast<long>(&problem),
                reinterpret_cast<long>(&size));
    return -problem;
  });
}

}  // namespace clew::rt
