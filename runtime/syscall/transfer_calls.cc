// Calls that move data through a descriptor: reading, writing, receiving, sending.
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "runtime/outside/descriptors.h"
#include "runtime/outside/randomness.h"
#include "runtime/outside/ready.h"
#include "runtime/outside/signal_descriptors.h"
#include "runtime/record/generation.h"
#include "runtime/signal/cancel.h"
#include "runtime/syscall/timers.h"
#include "runtime/syscall/transfer.h"
#include "runtime/time/deadline.h"

namespace clew::rt {
namespace {

// A pipe that polls as writable takes this much at once.
constexpr std::size_t kChunk = PIPE_BUF;
constexpr std::size_t kMaxVector = 1024;  // UIO_MAXIOV

// Flags of the message that the call has as an argument; 0: it has none.
long message_flags(const Call& call) {
  switch (call.number) {
    case SYS_recvfrom:
    case SYS_sendto:
      return call.a[3];
    case SYS_recvmsg:
    case SYS_sendmsg:
      return call.a[2];
    default:
      return 0;
  }
}

// The kernel takes no more at once.
long messages_of(const Call& call) {
  const auto count = static_cast<std::uint32_t>(call.a[2]);
  return count < kMaxVector ? count : kMaxVector;
}

// Others fail at once if the descriptor is no socket.
bool is_for_any(const Call& call) {
  return call.number == SYS_read || call.number == SYS_readv || call.number == SYS_write ||
         call.number == SYS_writev;
}

// The parts of memory of a call, as a vector.
struct Data {
  const iovec* parts;
  std::size_t count;
  iovec only;  // of calls with one buffer
  std::size_t size() const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total += parts[i].iov_len;
    return total;
  }
  // Otherwise the kernel says what is wrong, at once.
  bool is_valid() const {
    if (count > kMaxVector) return false;
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (parts[i].iov_len > SSIZE_MAX || (total += parts[i].iov_len) > SSIZE_MAX) return false;
    return true;
  }
};

void find_data(const Call& call, Data& data) {
  if (call.number == SYS_readv || call.number == SYS_writev) {
    data.parts = reinterpret_cast<const iovec*>(call.a[1]);
    data.count = static_cast<std::size_t>(call.a[2]);
  } else if (call.number == SYS_recvmsg || call.number == SYS_sendmsg) {
    const auto& header = *reinterpret_cast<const msghdr*>(call.a[1]);
    data.parts = header.msg_iov;
    data.count = header.msg_iovlen;
  } else {
    data.only = {reinterpret_cast<void*>(call.a[1]), static_cast<std::size_t>(call.a[2])};
    data.parts = &data.only;
    data.count = 1;
  }
}

// What is left of a vector.
struct Rest {
  iovec* parts;
  std::size_t count;
};

// `done` bytes of `from` are done.
Rest rest_of(const iovec* from, std::size_t count, std::size_t done) {
  static iovec parts[kMaxVector];
  Rest rest{parts, 0};
  for (std::size_t i = 0; i < count && rest.count < kMaxVector; ++i) {
    if (done >= from[i].iov_len) {
      done -= from[i].iov_len;
      continue;
    }
    parts[rest.count++] = {static_cast<char*>(from[i].iov_base) + done, from[i].iov_len - done};
    done = 0;
  }
  return rest;
}

bool may_wait(const Call& call, const Descriptor& known, const Data& data) {
  if (!known.blocking || !data.is_valid()) return false;
  if (known.leads == Leads::kSocket) return (message_flags(call) & MSG_DONTWAIT) == 0;
  // Too little for a counter is an error.
  const std::size_t least = known.leads == Leads::kCounter ? sizeof(std::uint64_t) : 1;
  return known.is_stream() && is_for_any(call) && data.size() >= least;
}

// Once something was transferred, every handler ends the call, even one with SA_RESTART.
Patience patience_after(Patience patience, std::size_t done) {
  if (done > 0) patience.ended_by = kSignalsAlways | kCancel;
  return patience;
}

// --- receiving -----------------------------------------------------------------------------------

bool may_wait_to_receive(const Call& call, const Descriptor& known, const Data& data) {
  // Out-of-band data is there or not: nothing waits for it.
  return known.reads && (message_flags(call) & (MSG_OOB | MSG_ERRQUEUE)) == 0 &&
         may_wait(call, known, data) && !(is_for_any(call) && data.size() == 0);
}

// Whether the call has to wait until all it asks for is there (MSG_WAITALL).
bool wants_all(const Call& call) {
  const long flags = message_flags(call);
  if ((flags & MSG_WAITALL) == 0 || (flags & MSG_PEEK) != 0) return false;
  int type = 0;
  socklen_t size = sizeof type;
  raw_syscall(SYS_getsockopt, call.a[0], SOL_SOCKET, SO_TYPE, reinterpret_cast<long>(&type),
              reinterpret_cast<long>(&size));
  return type == SOCK_STREAM;
}

// Makes the call without waiting. REQUIRES: a socket.
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
      return raw_syscall(call.number, call.a[0], call.a[1], call.a[2], call.a[3] | MSG_DONTWAIT,
                         call.a[4], call.a[5]);
    default:
      return raw_syscall(call.number, call.a[0], call.a[1], call.a[2] | MSG_DONTWAIT);
  }
}

// A piece of what a call with MSG_WAITALL asks for. Control data comes with the first.
long receive_rest_at_once(const Call& call, const Data& data, std::size_t received) {
  const long flags = (message_flags(call) & ~MSG_WAITALL) | MSG_DONTWAIT;
  const Rest rest = rest_of(data.parts, data.count, received);
  if (call.number == SYS_recvfrom)
    return raw_syscall(SYS_recvfrom, call.a[0], reinterpret_cast<long>(rest.parts[0].iov_base),
                       static_cast<long>(rest.parts[0].iov_len), flags, call.a[4], call.a[5]);
  auto& header = *reinterpret_cast<msghdr*>(call.a[1]);
  msghdr piece = header;
  if (received > 0) piece = {};
  piece.msg_iov = rest.parts;
  piece.msg_iovlen = rest.count;
  const long result = raw_syscall(SYS_recvmsg, call.a[0], reinterpret_cast<long>(&piece), flags);
  if (result >= 0 && received == 0) {
    header.msg_namelen = piece.msg_namelen;
    header.msg_controllen = piece.msg_controllen;
    header.msg_flags = piece.msg_flags;
  }
  return result;
}

long received(const Call& call) {
  const int fd = fd_of(call);
  const Patience patience = patience_of(timeouts_of(fd).receive);
  Data data{};
  find_data(call, data);
  long result = 0;
  std::size_t so_far = 0;
  bool done = false;
  const auto would_block = [&] {
    const Descriptor& known = descriptor(fd);
    if (!may_wait_to_receive(call, known, data)) return false;
    if (known.is_stream()) return !is_ready(fd, POLLIN);
    done = true;
    if (!wants_all(call)) return (result = receive_at_once(call)) == -EAGAIN;
    const std::size_t size = data.size();
    while (so_far < size && (result = receive_rest_at_once(call, data, so_far)) > 0)
      so_far += static_cast<std::size_t>(result);
    if (result != -EAGAIN && so_far > 0) result = static_cast<long>(so_far);
    return result == -EAGAIN;
  };
  while (has_to_wait(call, so_far, would_block)) {
    const long error = wait_until_ready(call, fd, POLLIN, patience_after(patience, so_far));
    if (error == kCancelled) return error;
    if (error == kReady) continue;
    return answered(call,
                    [&] { return so_far > 0 ? static_cast<long>(so_far) : end_of_wait(error); });
  }
  return answered(call, [&]() -> long {
    if (done) return result;
    if (descriptor(fd).leads != Leads::kRandom || call.number != SYS_read) return to_kernel(call);
    random_device_bytes(reinterpret_cast<void*>(call.a[1]), static_cast<std::size_t>(call.a[2]));
    return call.a[2];
  });
}

// One by one, and so recorded.
long received_messages(const Call& call) {
  auto* messages = reinterpret_cast<mmsghdr*>(call.a[1]);
  const auto* timeout = reinterpret_cast<const timespec*>(call.a[4]);
  if (timeout != nullptr && !is_duration(*timeout)) return -EINVAL;
  const Nanos deadline = timeout != nullptr ? deadline_after(*timeout) : kForever;
  long flags = call.a[3] & ~MSG_WAITFORONE;
  for (long i = 0; i < messages_of(call); ++i) {
    Call one{SYS_recvmsg, {call.a[0], reinterpret_cast<long>(&messages[i].msg_hdr), flags}};
    note_room(one);
    const long result = received(one);
    if (result < 0) return i > 0 && result != kCancelled ? i : result;
    messages[i].msg_len = static_cast<unsigned>(result);
    if ((call.a[3] & MSG_WAITFORONE) != 0) flags |= MSG_DONTWAIT;
    // As in the kernel: looked at only after a message.
    if (g_sched.now() >= deadline) return i + 1;
  }
  return messages_of(call);
}

// --- sending -------------------------------------------------------------------------------------

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
  const auto write = [&] {
    return raw_syscall(SYS_writev, call.a[0], reinterpret_cast<long>(rest.parts),
                       static_cast<long>(rest.count));
  };
  if (descriptor(fd_of(call)).leads == Leads::kPipe) return write();
  // Others may be ready for less.
  return without_waiting(fd_of(call), write);
}

// Descriptors that are sent to another process may be used there.
void note_passed_on(const Call& call) {
  if (call.number != SYS_sendmsg || call.a[1] == 0) return;
  if (reinterpret_cast<const msghdr*>(call.a[1])->msg_controllen > 0) nothing_is_inside();
}

// A call that sends, and how far it has come.
struct Sending {
  const Call& call;
  Data data{};
  std::size_t size = 0;
  std::size_t sent = 0;
  long result = 0;
  bool done = false;    // the kernel has been asked
  bool waited = false;  // the last attempt was made while it waited

  // Sends what it can. Whether something is left that has to wait.
  bool has_to_wait() {
    const Descriptor& known = descriptor(fd_of(call));
    if (!known.writes || !may_wait(call, known, data)) return false;
    if (waited) return waited = false;
    done = true;
    do {
      result = known.leads == Leads::kSocket ? send_at_once(call, data, sent)
                                             : write_at_once(call, data, sent);
      if (result > 0) sent += static_cast<std::size_t>(result);
    } while (result > 0 && sent < size);
    return result == -EAGAIN;
  }
};

bool send_again(OutsideWait& wait) {
  auto& sending = *static_cast<Sending*>(const_cast<void*>(wait.data));
  sending.waited = false;
  return sending.waited = !sending.has_to_wait();
}

// A descriptor can be ready, but not for this call: a local datagram socket whose receiver has no
// room, a counter that would overflow.
long wait_to_send(Sending& sending, const Patience& patience) {
  const int fd = fd_of(sending.call);
  if (!g_inputs.replaying() && is_ready(fd, POLLOUT))
    return wait_by_trying(sending.call, abi::WaitKind::kDescriptor, send_again, &sending, patience);
  return wait_until_ready(sending.call, fd, POLLOUT, patience);
}

long sent_blocking(const Call& call) {
  const Patience patience = patience_of(timeouts_of(fd_of(call)).send);
  Sending sending{call};
  find_data(call, sending.data);
  if (sending.data.is_valid()) sending.size = sending.data.size();
  const auto sent = [&](long otherwise) {
    return sending.sent > 0 ? static_cast<long>(sending.sent) : otherwise;
  };
  while (has_to_wait(call, sending.sent, [&] { return sending.has_to_wait(); })) {
    const long error = wait_to_send(sending, patience_after(patience, sending.sent));
    if (error == kCancelled) return error;
    if (error == kReady) continue;
    return answered(call, [&] { return sent(end_of_wait(error)); });
  }
  return answered(call, [&] { return sending.done ? sent(sending.result) : to_kernel(call); });
}

// What goes to clew's standard output is written in a replay too.
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

// A program that has departed may offer less than it did when it was recorded. What lies behind its
// data is not to be written, and an answer that says that it was leads the program astray.
void check_sent(const Call& call, long result) {
  Data data{};
  find_data(call, data);
  if (result > 0 && data.is_valid() && static_cast<std::size_t>(result) > data.size())
    g_inputs.depart_with_less(call.number);
}

long replayed_write(const Call& call) {
  const Answer answer = replay_answer(call);
  check_sent(call, answer.result);
  if (answer.flags == 0 || answer.result <= 0 || !is_recorded_generation()) return answer.result;
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
  // The recording tells a call that waits from one that is made.
  if ((call.number == SYS_write || call.number == SYS_writev) && !g_inputs.next_blocks())
    return replayed_write(call);
  const long result = sent_blocking(call);
  check_sent(call, result);
  return result;
}

// One by one, and so recorded.
long sent_messages(const Call& call) {
  auto* messages = reinterpret_cast<mmsghdr*>(call.a[1]);
  for (long i = 0; i < messages_of(call); ++i) {
    const msghdr& header = messages[i].msg_hdr;
    const long result =
        sent(Call{SYS_sendmsg, {call.a[0], reinterpret_cast<long>(&header), call.a[3]}});
    if (result < 0) return i > 0 && result != kCancelled ? i : result;
    messages[i].msg_len = static_cast<unsigned>(result);
    const Data data{header.msg_iov, header.msg_iovlen, {}};
    if (static_cast<std::size_t>(result) < data.size()) return i + 1;
  }
  return messages_of(call);
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
      return received(call);
    case SYS_recvmmsg:
      return received_messages(call);
    case SYS_write:
    case SYS_writev:
      if (is_signal_descriptor(fd_of(call)) || is_timer_descriptor(fd_of(call))) return -EINVAL;
      return sent(call);
    case SYS_sendto:
    case SYS_sendmsg:
      return sent(call);
    case SYS_sendmmsg:
      return sent_messages(call);
    case SYS_accept:
    case SYS_accept4:
      return accepted(call);
    case SYS_connect:
      return connected(call);
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
      return moved(call);
    default:  // on files only, or irrelevant here
      return recorded(call);
  }
}

}  // namespace clew::rt
