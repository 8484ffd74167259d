#include "runtime/outside/signal_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "runtime/outside/descriptors.h"
#include "runtime/outside/perform.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/signals.h"

namespace clew::rt {
namespace {

struct SignalDescriptor {
  int fd = -1;
  std::uint64_t set = 0;
  bool blocking = true;
  bool ready = false;  // what the kernel shows
};

// Chosen, not measured: programs have one or two.
constexpr int kMost = 128;
SignalDescriptor g_descriptors[kMost];
int g_end = 0;  // none beyond was ever used

SignalDescriptor* find(int fd) {
  for (int i = 0; i < g_end; ++i)
    if (g_descriptors[i].fd == fd && fd >= 0) return &g_descriptors[i];
  return nullptr;
}

template <class IsReady>
void show(IsReady is_ready) {
  if (g_inputs.replaying()) return;
  for (int i = 0; i < g_end; ++i) {
    SignalDescriptor& each = g_descriptors[i];
    if (each.fd < 0) continue;
    const bool ready = is_ready(each);
    if (ready == each.ready) continue;
    each.ready = ready;
    std::uint64_t count = 1;
    raw_syscall(ready ? SYS_write : SYS_read, each.fd, reinterpret_cast<long>(&count),
                sizeof count);
  }
}

// The fields that belong to the kind of signal; the others are 0.
signalfd_siginfo told(const siginfo_t& info) {
  signalfd_siginfo out{};
  out.ssi_signo = static_cast<std::uint32_t>(info.si_signo);
  out.ssi_code = info.si_code;
  out.ssi_errno = info.si_errno;
  const bool by_child = info.si_signo == SIGCHLD && info.si_code > 0 && info.si_code != SI_KERNEL;
  if (info.si_code == SI_TIMER) {
    out.ssi_tid = static_cast<std::uint32_t>(info.si_timerid);
    out.ssi_overrun = static_cast<std::uint32_t>(info.si_overrun);
  } else {
    out.ssi_pid = static_cast<std::uint32_t>(info.si_pid);
    out.ssi_uid = info.si_uid;
  }
  if (by_child) {
    out.ssi_status = info.si_status;
    out.ssi_utime = static_cast<std::uint64_t>(info.si_utime);
    out.ssi_stime = static_cast<std::uint64_t>(info.si_stime);
  } else if (info.si_code < 0) {
    out.ssi_int = info.si_value.sival_int;
    out.ssi_ptr = reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
  }
  return out;
}

}  // namespace

bool is_signal_descriptor(int fd) { return find(fd) != nullptr; }

void close_signal_descriptor(int fd) {
  if (SignalDescriptor* known = find(fd)) *known = {};
}

void show_signals_to(const Fiber& fiber) {
  show([&](const SignalDescriptor& each) { return is_pending(fiber, each.set); });
}

void show_signals_to_nobody() {
  show([](const SignalDescriptor&) { return false; });
}

void forget_what_signals_show() {
  for (int i = 0; i < g_end; ++i) g_descriptors[i].ready = false;
}

bool signals_differ_by_thread() {
  std::uint64_t all = 0;
  for (int i = 0; i < g_end; ++i) all |= g_descriptors[i].set;
  return all != 0 && is_pending_for_one(all);
}

long signal_descriptor_call(const Call& call) {
  const auto set = *reinterpret_cast<const std::uint64_t*>(call.a[1]);
  const long flags = call.number == SYS_signalfd4 ? call.a[3] : 0;
  if ((flags & ~(SFD_NONBLOCK | SFD_CLOEXEC)) != 0) return -EINVAL;
  if (static_cast<int>(call.a[0]) != -1) {
    SignalDescriptor* known = find(static_cast<int>(call.a[0]));
    if (known == nullptr)
      return answered(
          call, [&] { return raw_syscall(SYS_fcntl, call.a[0], F_GETFD) < 0 ? -EBADF : -EINVAL; });
    known->set = set;
    return known->fd;
  }
  SignalDescriptor* free = nullptr;
  for (int i = 0; i < kMost && free == nullptr; ++i)
    if (g_descriptors[i].fd < 0) free = &g_descriptors[i];
  if (free == nullptr) return -EMFILE;
  static_assert(int{SFD_NONBLOCK} == int{EFD_NONBLOCK} && int{SFD_CLOEXEC} == int{EFD_CLOEXEC});
  const long fd = answered(call, [&] { return raw_syscall(SYS_eventfd2, 0, flags); });
  if (fd < 0) return fd;
  forget_descriptor(static_cast<int>(fd));
  *free = {static_cast<int>(fd), set, (flags & SFD_NONBLOCK) == 0, false};
  if (free - g_descriptors >= g_end) g_end = static_cast<int>(free - g_descriptors) + 1;
  return fd;
}

long read_signals(const Call& call) {
  const auto fd = static_cast<int>(call.a[0]);
  const auto room = static_cast<std::size_t>(call.a[2]) / sizeof(signalfd_siginfo);
  if (room == 0) return -EINVAL;
  auto* out = reinterpret_cast<signalfd_siginfo*>(call.a[1]);
  g_poller.poll();
  for (;;) {
    SignalDescriptor* known = find(fd);
    if (known == nullptr) return -EBADF;
    std::size_t count = 0;
    for (siginfo_t info; count < room && take_pending(*g_sched.current, known->set, info);)
      out[count++] = told(info);
    if (count > 0) return static_cast<long>(count * sizeof(signalfd_siginfo));
    if (!known->blocking) return -EAGAIN;
    const long error = wait_until_ready(call, fd, POLLIN, {});
    if (error != kReady) return error;
  }
}

}  // namespace clew::rt
