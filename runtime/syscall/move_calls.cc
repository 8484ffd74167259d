// Calls that move data from descriptor to descriptor, or from memory into a pipe. Each is made
// without waiting, so that errors are returned at once; if it would block, the thread waits for the
// end that is not ready.
#include <fcntl.h>

#include "runtime/outside/descriptors.h"
#include "runtime/outside/ready.h"
#include "runtime/signal/cancel.h"
#include "runtime/syscall/transfer.h"

namespace clew::rt {
namespace {

constexpr long kNonBlocking = 2;  // SPLICE_F_NONBLOCK

struct Ends {
  int from = -1;  // -1: memory
  int to = -1;
  int flags_at = 0;  // 0: the call has none
};

Ends ends_of(const Call& call) {
  const auto fd = [&](int argument) { return static_cast<int>(call.a[argument]); };
  switch (call.number) {
    case SYS_sendfile:
      return {fd(1), fd(0), 0};
    case SYS_tee:
      return {fd(0), fd(1), 3};
    case SYS_vmsplice:
      return descriptor(fd(0)).writes ? Ends{-1, fd(0), 3} : Ends{fd(0), -1, 3};
    default:
      return {fd(0), fd(2), 5};
  }
}

bool is_not_ready(int fd, short events) {
  return fd >= 0 && descriptor(fd).can_be_waited_for() && !is_ready(fd, events);
}

// With SPLICE_F_NONBLOCK the kernel does not wait for pipes; for the other end it still may.
bool waits_for_other_end(const Ends& ends) {
  const auto waits = [](int fd, short events) {
    if (fd < 0) return false;
    const Descriptor& known = descriptor(fd);
    return known.blocking && known.leads != Leads::kPipe && is_not_ready(fd, events);
  };
  const bool has_pipe =
      descriptor(ends.from).leads == Leads::kPipe || descriptor(ends.to).leads == Leads::kPipe;
  return has_pipe && (waits(ends.from, POLLIN) || waits(ends.to, POLLOUT));
}

long at_once(const Call& call, const Ends& ends) {
  if (call.number == SYS_sendfile) return without_waiting(ends.to, [&] { return to_kernel(call); });
  if (call.number == SYS_splice && waits_for_other_end(ends)) return -EAGAIN;
  Call changed = call;
  changed.a[ends.flags_at] |= kNonBlocking;
  return to_kernel(changed);
}

bool may_wait(const Call& call, const Ends& ends) {
  const bool asked_not_to = ends.flags_at != 0 && (call.a[ends.flags_at] & kNonBlocking) != 0;
  const auto refuses = [](int fd) {
    return fd >= 0 && descriptor(fd).can_be_waited_for() && !descriptor(fd).blocking;
  };
  return !asked_not_to && !refuses(ends.from) && !refuses(ends.to);
}

}  // namespace

long moved(const Call& call) {
  Ends ends;
  long result = 0;
  const auto would_block = [&] {
    ends = ends_of(call);
    result = at_once(call, ends);
    return result == -EAGAIN && may_wait(call, ends);
  };
  while (has_to_wait(call, would_block)) {
    const bool input = !g_inputs.replaying() && is_not_ready(ends.from, POLLIN);
    const long error = wait_until_ready(call, input ? ends.from : ends.to,
                                        static_cast<short>(input ? POLLIN : POLLOUT), {});
    if (error == kCancelled) return error;
    if (error != kReady) return answered(call, [&] { return error; });
  }
  return answered(call, [&] { return result; });
}

}  // namespace clew::rt
