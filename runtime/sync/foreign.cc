#include "runtime/sync/foreign.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/outside/asks.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

// Whether a thread may be waiting for something that is shared. All of these look again when they
// are woken.
bool may_wait_for_others(const Fiber& fiber) {
  constexpr unsigned kSharedCondition = 1;
  switch (fiber.wait_kind()) {
    case abi::WaitKind::kCondition:
      return (static_cast<const pthread_cond_t*>(fiber.wait_object())->__data.__wrefs &
              kSharedCondition) != 0;
    case abi::WaitKind::kMutex:
    case abi::WaitKind::kReadLock:
    case abi::WaitKind::kWriteLock:
    case abi::WaitKind::kSpin:
    case abi::WaitKind::kSemaphore:
      return true;
    default:
      return false;
  }
}

}  // namespace

void expect_other_processes() {
  if (g_other_processes) return;
  g_other_processes = true;
  g_sched.for_each_living([](const Fiber& fiber) {
    if (may_wait_for_others(fiber)) g_sched.wake_all(fiber.wait_object());
  });
}

bool is_foreign(int number) {
  if (!g_other_processes || number == 0) return g_other_processes;
  bool ours = false;
  g_sched.for_each_living([&](const Fiber& fiber) { ours |= fiber.number == number; });
  return !ours;
}

Woke wait_for_others(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by) {
  if (!g_other_processes) return g_sched.block(kind, object, deadline, ended_by);
  // Whoever changes the object, one of us or another process, is noticed when the kernel is asked.
  // Each look takes time, so that whoever sleeps in the meantime wakes up.
  g_sched.pass_time(kNanosPerTimeRead);
  OutsideWait wait;
  wait.wait.kind = kind;
  wait.wait.about = object;
  wait.wait.polls = true;
  wait.try_again = [](OutsideWait&) { return true; };
  return g_asks.wait(wait, deadline, ended_by);
}

int wake_others(const void* word, int count) {
  if (!g_other_processes) return 0;
  return static_cast<int>(raw_syscall(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE, count));
}

}  // namespace clew::rt
