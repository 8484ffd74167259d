// Calls that move data through a descriptor: reading, writing, receiving, sending, connections.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/init.h"
#include "runtime/outside/descriptors.h"
#include "runtime/outside/perform.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/descriptors.h"
#include "runtime/signal/internal.h"

namespace clew::rt {
namespace {

// What a pipe that polls writable takes at once.
constexpr std::size_t kChunk = PIPE_BUF;
constexpr std::size_t kMaxVector = 1024;  // UIO_MAXIOV

bool is_ready(int fd, short events) {
  pollfd ready{fd, events, 0};
  return raw_syscall(SYS_poll, reinterpret_cast<long>(&ready), 1, 0) != 0;
}

int fd_of(const Call& call) { return static_cast<int>(call.a[0]); }

// Flags of the message that the call has as an argument; 0: it has none.
long message_flags(const Call& call) {
  switch (call.number) {
    case SYS_recvfrom:
    case SYS_sendto:
    case SYS_recvmmsg:
    case SYS_sendmmsg:
      return call.a[3];
    case SYS_recvmsg:
    case SYS_sendmsg:
      return call.a[2];
    default:
      return 0;
  }
}

// Others fail at once if the descriptor is no socket.
bool is_for_any(const Call& call) {
  return call.number == SYS_read || call.number == SYS_readv || call.number == SYS_write ||
         call.number == SYS_writev;
}

bool may_wait(const Call& call, const Descriptor& known) {
  return known.blocking &&
         (known.leads == Leads::kSocket || (known.leads == Leads::kStream && is_for_any(call))) &&
         (message_flags(call) & MSG_DONTWAIT) == 0;
}

Patience patience_of(Nanos timeout) {
  Patience patience;
  if (timeout > 0) patience.deadline = g_sched.now() + timeout;
  return patience;
}

// How the call ends when the wait did.
long end_of_wait(long error) { return error == -ETIMEDOUT ? -EAGAIN : error; }

// --- receiving -----------------------------------------------------------------------------------

// The same without waiting. REQUIRES: a socket.
long receive_at_once(const Call& call) {
  switch (call.number) {
    case SYS_read:
      return raw_syscall(SYS_recvfrom, call.a[0], call.a[1], call.a[2], MSG_DONTWAIT, 0, 0);
    case SYS_readv: {
      msghdr header{};
      header.msg_iov = reinterpret_cast<iovec*>(call.a[1]);
      header.msg_iovlen = static_cast<std::size_t>(call.a[2]);
      return raw_syscall(SYS_recvmsg, call.a[0], reinterpret_cast<long>(&header), MSG_DONTWAIT);
    }
    case SYS_recvfrom:
    case SYS_recvmmsg:
      return raw_syscall(call.number, call.a[0], call.a[1], call.a[2], call.a[3] | MSG_DONTWAIT,
                         call.number == SYS_recvmmsg ? 0 : call.a[4], call.a[5]);
    default:
      return raw_syscall(call.number, call.a[0], call.a[1], call.a[2] | MSG_DONTWAIT);
  }
}

// Part of a recv() with MSG_WAITALL.
long receive_rest_at_once(const Call& call, long received) {
  Call rest = call;
  rest.a[1] += received;
  rest.a[2] -= received;
  rest.a[3] &= ~MSG_WAITALL;
  return receive_at_once(rest);
}

long received(const Call& call) {
  const int fd = fd_of(call);
  const bool whole = call.number == SYS_recvfrom && (call.a[3] & MSG_WAITALL) != 0;
  const Patience patience = patience_of(timeouts_of(fd).receive);
  long result = 0;
  long so_far = 0;
  bool done = false;
  const auto would_block = [&] {
    const Descriptor& known = descriptor(fd);
    if (!may_wait(call, known)) return false;
    if (known.leads == Leads::kStream) return !is_ready(fd, POLLIN);
    done = true;
    if (!whole) return (result = receive_at_once(call)) == -EAGAIN;
    while (so_far < call.a[2] && (result = receive_rest_at_once(call, so_far)) > 0)
      so_far += result;
    if (result != -EAGAIN && so_far > 0) result = so_far;
    return result == -EAGAIN;
  };
  while (has_to_wait(call, would_block)) {
    const long error = wait_until_ready(call, fd, POLLIN, patience);
    if (error == kCancelled) return error;
    if (error == kReady) continue;
    return answered(call, [&] { return so_far > 0 ? so_far : end_of_wait(error); });
  }
  return answered(call, [&]() -> long {
    if (done) return result;
    if (descriptor(fd).leads != Leads::kRandom || call.number != SYS_read) return to_kernel(call);
    random_bytes(reinterpret_cast<void*>(call.a[1]), static_cast<std::size_t>(call.a[2]));
    return call.a[2];
  });
}

// --- sending -------------------------------------------------------------------------------------

// What is still to be sent, as a vector.
struct Rest {
  iovec* parts;
  std::size_t count;
};

// `sent` bytes of `from` are gone.
Rest rest_of(const iovec* from, std::size_t count, std::size_t sent) {
  static iovec parts[kMaxVector];
  Rest rest{parts, 0};
  for (std::size_t i = 0; i < count && rest.count < kMaxVector; ++i) {
    if (sent >= from[i].iov_len) {
      sent -= from[i].iov_len;
      continue;
    }
    parts[rest.count++] = {static_cast<char*>(from[i].iov_base) + sent, from[i].iov_len - sent};
    sent = 0;
  }
  return rest;
}

struct Data {
  const iovec* parts;
  std::size_t count;
  iovec only;  // of calls with one buffer
  std::size_t size() const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total += parts[i].iov_len;
    return total;
  }
};

void find_data(const Call& call, Data& data) {
  if (call.number == SYS_writev) {
    data.parts = reinterpret_cast<const iovec*>(call.a[1]);
    data.count = static_cast<std::size_t>(call.a[2]);
  } else if (call.number == SYS_sendmsg) {
    const auto& header = *reinterpret_cast<const msghdr*>(call.a[1]);
    data.parts = header.msg_iov;
    data.count = header.msg_iovlen;
  } else {
    data.only = {reinterpret_cast<void*>(call.a[1]), static_cast<std::size_t>(call.a[2])};
    data.parts = &data.only;
    data.count = 1;
  }
}

// A piece of the rest, without waiting. Control data goes with the first.
long send_at_once(const Call& call, const Data& data, std::size_t sent) {
  const Rest rest = rest_of(data.parts, data.count, sent);
  msghdr header{};
  if (call.number == SYS_sendmsg) header = *reinterpret_cast<const msghdr*>(call.a[1]);
  if (call.number == SYS_sendto) {
    header.msg_name = reinterpret_cast<void*>(call.a[4]);
    header.msg_namelen = static_cast<socklen_t>(call.a[5]);
  }
  if (sent > 0) header.msg_control = nullptr, header.msg_controllen = 0;
  header.msg_iov = rest.parts;
  header.msg_iovlen = rest.count;
  return raw_syscall(SYS_sendmsg, call.a[0], reinterpret_cast<long>(&header),
                     message_flags(call) | MSG_DONTWAIT);
}

long write_at_once(const Call& call, const Data& data, std::size_t sent) {
  if (!is_ready(fd_of(call), POLLOUT)) return -EAGAIN;
  Rest rest = rest_of(data.parts, data.count, sent);
  std::size_t size = 0;
  for (std::size_t i = 0; i < rest.count; ++i) {
    const std::size_t room = kChunk - size;
    if (rest.parts[i].iov_len >= room) {
      rest.parts[i].iov_len = room;
      rest.count = i + 1;
    }
    size += rest.parts[i].iov_len;
  }
  return raw_syscall(SYS_writev, call.a[0], reinterpret_cast<long>(rest.parts),
                     static_cast<long>(rest.count));
}

// Descriptors that are sent to somebody else may be used by him.
void note_passed_on(const Call& call) {
  if (call.number != SYS_sendmsg || call.a[1] == 0) return;
  if (reinterpret_cast<const msghdr*>(call.a[1])->msg_controllen > 0) nothing_is_inside();
}

long sent_blocking(const Call& call) {
  const int fd = fd_of(call);
  const Patience patience = patience_of(timeouts_of(fd).send);
  Data data{};
  find_data(call, data);
  const std::size_t size = data.size();
  std::size_t sent = 0;
  long result = 0;
  bool done = false;
  const auto would_block = [&] {
    const Descriptor& known = descriptor(fd);
    if (!may_wait(call, known)) return false;
    done = true;
    do {
      result = known.leads == Leads::kSocket ? send_at_once(call, data, sent)
                                             : write_at_once(call, data, sent);
      if (result > 0) sent += static_cast<std::size_t>(result);
    } while (result > 0 && sent < size);
    return result == -EAGAIN;
  };
  while (has_to_wait(call, would_block)) {
    const long error = wait_until_ready(call, fd, POLLOUT, patience);
    if (error == kCancelled) return error;
    if (error == kReady) continue;
    return answered(call, [&] { return sent > 0 ? static_cast<long>(sent) : end_of_wait(error); });
  }
  return answered(call, [&]() -> long {
    if (!done) return to_kernel(call);
    return sent > 0 ? static_cast<long>(sent) : result;
  });
}

// What leads to clew is written in a replay too.
long written_out(const Call& call) {
  if (!g_inputs.replaying()) {
    const long result = to_kernel(call);
    if (g_inputs.recording()) record_answer(call, {result, descriptor(fd_of(call)).output});
    return result;
  }
  return 0;
}

bool goes_out(const Call& call) {
  return (call.number == SYS_write || call.number == SYS_writev) &&
         descriptor(fd_of(call)).leads == Leads::kOutput;
}

long replayed_write(const Call& call) {
  const Answer answer = replay_answer(call);
  if (answer.flags == 0 || answer.result <= 0) return answer.result;
  const long fd = answer.flags == abi::kToStdout ? 1 : 2;
  Call again = call;
  again.a[0] = fd;
  if (call.number == SYS_write) again.a[2] = answer.result;
  to_kernel(again);
  return answer.result;
}

long sent(const Call& call) {
  note_passed_on(call);
  if (!g_inputs.replaying()) return goes_out(call) ? written_out(call) : sent_blocking(call);
  // The recording tells a call that waits from one that goes out.
  if ((call.number == SYS_write || call.number == SYS_writev) && !g_inputs.next_blocks())
    return replayed_write(call);
  return sent_blocking(call);
}

// --- connections ---------------------------------------------------------------------------------

bool listens(int fd) {
  int answer = 0;
  socklen_t size = sizeof answer;
  raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN, reinterpret_cast<long>(&answer),
              reinterpret_cast<long>(&size));
  return answer != 0;
}

long accepted(const Call& call) {
  const int fd = fd_of(call);
  const Patience patience = patience_of(timeouts_of(fd).receive);
  const auto would_block = [&] {
    return may_wait(call, descriptor(fd)) && listens(fd) && !is_ready(fd, POLLIN);
  };
  while (has_to_wait(call, would_block)) {
    const long error = wait_until_ready(call, fd, POLLIN, patience);
    if (error == kCancelled) return error;
    if (error != kReady) return answered(call, [&] { return end_of_wait(error); });
  }
  const long made = recorded(call);
  if (made >= 0) forget_descriptor(static_cast<int>(made));
  return made;
}

// Without waiting, whatever the descriptor's flags say.
long connect_at_once(const Call& call) {
  const long flags = raw_syscall(SYS_fcntl, call.a[0], F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return to_kernel(call);
  raw_syscall(SYS_fcntl, call.a[0], F_SETFL, flags | O_NONBLOCK);
  const long result = to_kernel(call);
  raw_syscall(SYS_fcntl, call.a[0], F_SETFL, flags);
  return result;
}

bool connection_taken(OutsideWait& wait) {
  return connect_at_once(*static_cast<const Call*>(wait.data)) != -EAGAIN;
}

long connected(const Call& call) {
  const int fd = fd_of(call);
  const Patience patience = patience_of(timeouts_of(fd).send);
  long result = 0;
  bool done = false;
  const auto would_block = [&] {
    if (!may_wait(call, descriptor(fd))) return false;
    done = true;
    result = connect_at_once(call);
    return result == -EINPROGRESS;
  };
  if (!has_to_wait(call, would_block)) {
    // A local socket whose queue is full.
    while (has_to_wait(call, [&] { return done && result == -EAGAIN; })) {
      const long error =
          wait_by_trying(call, abi::WaitKind::kDescriptor, connection_taken, &call, patience);
      if (error == kCancelled) return error;
      if (error != kReady) return answered(call, [&] { return end_of_wait(error); });
      result = -EISCONN;
    }
    return answered(call, [&] {
      return !done ? to_kernel(call) : result == -EISCONN ? 0 : result;
    });
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

// --- from descriptor to descriptor ---------------------------------------------------------------

long moved(const Call& call) {
  const bool sends_file = call.number == SYS_sendfile;
  const int from = static_cast<int>(sends_file ? call.a[1] : call.a[0]);
  const int to = static_cast<int>(sends_file               ? call.a[0]
                                  : call.number == SYS_tee ? call.a[1]
                                                           : call.a[2]);
  int waits_for = from;
  short events = POLLIN;
  const auto would_block = [&] {
    const auto stuck = [&](int fd, short wanted) {
      const Descriptor& known = descriptor(fd);
      waits_for = fd;
      events = wanted;
      return known.blocking && known.leads >= Leads::kSocket && !is_ready(fd, wanted);
    };
    return stuck(from, POLLIN) || stuck(to, POLLOUT);
  };
  while (has_to_wait(call, would_block)) {
    const long error = wait_until_ready(call, waits_for, events, {});
    if (error == kCancelled) return error;
    if (error != kReady) return answered(call, [&] { return error; });
  }
  return answered(call, [&] {
    if (!sends_file) {
      constexpr long kNonBlocking = 2;  // SPLICE_F_NONBLOCK
      Call at_once = call;
      at_once.a[call.number == SYS_tee ? 3 : 5] |= kNonBlocking;
      return to_kernel(at_once);
    }
    const long flags = raw_syscall(SYS_fcntl, to, F_GETFL);
    raw_syscall(SYS_fcntl, to, F_SETFL, flags | O_NONBLOCK);
    const long result = to_kernel(call);
    raw_syscall(SYS_fcntl, to, F_SETFL, flags);
    return result;
  });
}

}  // namespace

long transfer_call(const Call& call) {
  switch (call.number) {
    case SYS_read:
      if (is_signal_descriptor(fd_of(call))) return read_signals(call);
      return received(call);
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
      return received(call);
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return sent(call);
    case SYS_accept:
    case SYS_accept4:
      return accepted(call);
    case SYS_connect:
      return connected(call);
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
      return moved(call);
    default:  // on files only, or of no account here
      return recorded(call);
  }
}

}  // namespace clew::rt
