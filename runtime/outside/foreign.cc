#include "runtime/outside/foreign.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/outside/poller.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

// Whether a thread may be waiting for something that is shared. All such waits look again when they
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

int* g_turn = nullptr;  // in memory that all of them share; 1: somebody has it

int* shared_word() {
  const long page =
      raw_syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page < 0 && page > -4096 ? nullptr : reinterpret_cast<int*>(page);
}

}  // namespace

Turn::Turn() {
  // Chosen, not measured.
  constexpr int kMostTries = 10'000;
  for (int i = 0; g_turn != nullptr && !held_ && i < kMostTries; ++i) {
    int nobody = 0;
    held_ =
        __atomic_compare_exchange_n(g_turn, &nobody, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    if (!held_) raw_syscall(SYS_sched_yield);
  }
}

Turn::~Turn() {
  if (held_) __atomic_store_n(g_turn, 0, __ATOMIC_RELEASE);
}

void expect_other_processes() {
  if (g_other_processes) return;
  g_other_processes = true;
  g_turn = shared_word();
  g_sched.threads.for_each_living([](const Fiber& fiber) {
    if (may_wait_for_others(fiber)) g_sched.wake_all(fiber.wait_object());
  });
}

bool is_foreign(int number) {
  if (!g_other_processes || number == 0) return g_other_processes;
  bool ours = false;
  g_sched.threads.for_each_living([&](const Fiber& fiber) { ours |= fiber.number == number; });
  return !ours;
}

Woke wait_for_others(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by) {
  if (!g_other_processes) return g_sched.block(kind, object, deadline, ended_by);
  // A change of the object, by this program or by another process, is noticed at the next poll.
  // Each poll takes virtual time, so that threads that sleep meanwhile wake up.
  g_sched.pass_time(g_sched.at_speed(kNanosPerCall));
  OutsideWait wait;
  wait.wait.kind = kind;
  wait.wait.about = object;
  wait.wait.polls = true;
  wait.try_again = [](OutsideWait&) { return true; };
  return g_poller.wait(wait, deadline, ended_by);
}

int wake_others(const void* word, int count) {
  if (!g_other_processes) return 0;
  return static_cast<int>(raw_syscall(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE, count));
}

}  // namespace clew::rt
