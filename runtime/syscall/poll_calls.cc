// Calls that wait for any of several descriptors.
#include <alloca.h>
#include <errno.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "runtime/outside/descriptors.h"
#include "runtime/outside/signal_descriptors.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/signal/signals.h"
#include "runtime/syscall/families.h"
#include "runtime/time/deadline.h"

namespace clew::rt {
namespace {

constexpr Nanos kMillisecond = 1'000'000;

struct Limit {
  Nanos deadline = kForever;
  bool at_once = false;
  bool valid = true;
};

Limit limit_of(Nanos length) { return {deadline_after(length), length == 0, true}; }
Limit limit_of_milliseconds(long timeout) {
  return timeout < 0 ? Limit{} : limit_of(timeout * kMillisecond);
}
Limit limit_of(const timespec* timeout) {
  if (timeout == nullptr) return {};
  if (!is_duration(*timeout)) return {0, true, false};
  return limit_of(duration_of(*timeout));
}

bool all_inside(const pollfd* fds, nfds_t count) {
  for (nfds_t i = 0; i < count; ++i)
    if (fds[i].fd >= 0 && !descriptor(fds[i].fd).inside) return false;
  return true;
}

// `look` polls without waiting; it returns 0 if nothing is ready.
template <class Look>
long until_ready(const Call& call, pollfd* fds, nfds_t count, const Limit& limit, Look look) {
  if (!limit.valid) return answered(call, [] { return -EINVAL; });
  long result = 0;
  const auto look_now = [&] {
    show_signals_to(*g_sched.current);
    return look();
  };
  const auto would_block = [&] { return (result = look_now()) == 0 && !limit.at_once; };
  while (has_to_wait(call, would_block)) {
    OutsideWait wait;
    // Without descriptors it is a sleep.
    wait.wait.kind = count == 0 ? abi::WaitKind::kSleep : abi::WaitKind::kDescriptor;
    wait.wait.about = reinterpret_cast<const void*>(
        call.number << 32 |
        (count > 0 ? static_cast<long>(static_cast<std::uint32_t>(fds[0].fd)) : 0xffffffff));
    wait.fds = fds;
    wait.count = count;
    wait.inside = !g_inputs.replaying() && all_inside(fds, count);
    const Woke woke = g_poller.wait(wait, limit.deadline, kSignalsAlways | kCancel);
    if (woke == Woke::kByCancel) return kCancelled;
    if (woke == Woke::kBySignal) return answered(call, [] { return -EINTR; });
    if (woke == Woke::kByTime) return answered(call, look_now);
  }
  return answered(call, [&] { return result; });
}

long polled(const Call& call, const Limit& limit) {
  auto* fds = reinterpret_cast<pollfd*>(call.a[0]);
  const auto count = static_cast<nfds_t>(call.a[1]);
  return until_ready(call, fds, count, limit,
                     [&] { return raw_syscall(SYS_poll, call.a[0], call.a[1], 0); });
}

// --- select --------------------------------------------------------------------------------------

bool contains(const fd_set* set, int fd) {
  if (set == nullptr) return false;
  const auto* words = reinterpret_cast<const unsigned long*>(set);
  return (words[fd / 64] >> (fd % 64) & 1) != 0;
}

long selected(const Call& call, const Limit& limit) {
  const auto count = static_cast<int>(call.a[0]);
  if (count < 0 || count > (1 << 20)) return answered(call, [] { return -EINVAL; });
  const fd_set* sets[3];
  for (int i = 0; i < 3; ++i) sets[i] = reinterpret_cast<const fd_set*>(call.a[i + 1]);
  nfds_t used = 0;
  for (int fd = 0; fd < count; ++fd)
    if (contains(sets[0], fd) || contains(sets[1], fd) || contains(sets[2], fd)) ++used;
  auto* fds = static_cast<pollfd*>(alloca((used + 1) * sizeof(pollfd)));
  nfds_t at = 0;
  for (int fd = 0; fd < count; ++fd) {
    short events = 0;
    if (contains(sets[0], fd)) events |= POLLIN;
    if (contains(sets[1], fd)) events |= POLLOUT;
    if (contains(sets[2], fd)) events |= POLLPRI;
    if (events != 0) fds[at++] = {fd, events, 0};
  }
  // A poll that finds nothing clears the sets.
  const std::size_t size = static_cast<std::size_t>(count + 63) / 64 * 8;
  auto* before = static_cast<char*>(alloca(3 * size + 1));
  for (std::size_t i = 0; i < 3; ++i)
    if (sets[i] != nullptr) memcpy(before + i * size, sets[i], size);
  const auto put_back = [&] {
    for (std::size_t i = 0; i < 3; ++i)
      if (sets[i] != nullptr)
        memcpy(reinterpret_cast<void*>(call.a[i + 1]), before + i * size, size);
  };
  const long result = until_ready(call, fds, used, limit, [&] {
    put_back();
    timeval none{0, 0};
    return raw_syscall(SYS_select, count, call.a[1], call.a[2], call.a[3],
                       reinterpret_cast<long>(&none));
  });
  if (result < 0) put_back();  // an error leaves them as they were
  return result;
}

// Linux tells what is left of the time.
template <class Time, class Convert>
long and_tell_time_left(long result, const Limit& limit, Time* timeout, Convert convert) {
  if (timeout == nullptr || !limit.valid) return result;
  const Nanos left = limit.deadline - g_sched.now();
  *timeout = convert(left > 0 ? left : 0);
  return result;
}
timeval to_timeval(Nanos t) { return {t / 1'000'000'000, t % 1'000'000'000 / 1000}; }

Limit limit_of(const timeval* timeout) {
  if (timeout == nullptr) return {};
  if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return {0, true, false};
  const timespec t{timeout->tv_sec, timeout->tv_usec * 1000};
  return limit_of(duration_of(t));
}

// --- epoll ---------------------------------------------------------------------------------------

long epolled(const Call& call, const Limit& limit) {
  pollfd epoll{static_cast<int>(call.a[0]), POLLIN, 0};
  return until_ready(call, &epoll, 1, limit, [&] {
    return raw_syscall(SYS_epoll_wait, call.a[0], call.a[1], call.a[2], 0);
  });
}

}  // namespace

long poll_call(const Call& call) {
  const auto* mask = [&]() -> const std::uint64_t* {
    switch (call.number) {
      case SYS_ppoll:
        return reinterpret_cast<const std::uint64_t*>(call.a[3]);
      case SYS_pselect6:
        return call.a[5] != 0 ? *reinterpret_cast<std::uint64_t* const*>(call.a[5]) : nullptr;
      case SYS_epoll_pwait:
      case SYS_epoll_pwait2:
        return reinterpret_cast<const std::uint64_t*>(call.a[4]);
      default:
        return nullptr;
    }
  }();
  TemporaryMask temporary(mask);
  switch (call.number) {
    case SYS_poll:
      return polled(call, limit_of_milliseconds(static_cast<int>(call.a[2])));
    case SYS_ppoll:
      return polled(call, limit_of(reinterpret_cast<const timespec*>(call.a[2])));
    case SYS_select: {
      auto* timeout = reinterpret_cast<timeval*>(call.a[4]);
      const Limit limit = limit_of(timeout);
      return and_tell_time_left(selected(call, limit), limit, timeout, to_timeval);
    }
    case SYS_pselect6: {
      auto* timeout = reinterpret_cast<timespec*>(call.a[4]);
      const Limit limit = limit_of(timeout);
      return and_tell_time_left(selected(call, limit), limit, timeout, to_timespec);
    }
    case SYS_epoll_pwait2:
      return epolled(call, limit_of(reinterpret_cast<const timespec*>(call.a[3])));
    default:
      return epolled(call, limit_of_milliseconds(static_cast<int>(call.a[3])));
  }
}

}  // namespace clew::rt
