// Creation, joining and ending of threads.
#include "runtime/intercept/thread.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/call.h"
#include "runtime/intercept/init.h"
#include "runtime/record/end.h"
#include "runtime/sync/models.h"

extern "C" {
#define CLEW_TLS(name, type) \
  extern __attribute__((visibility("default"), tls_model("initial-exec"))) __thread type name;
#define CLEW_HOOK(name, ...)
#include "clew_abi/hooks.def"
}

using namespace clew::rt;

namespace {

// Where glibc keeps the kernel's thread id in its thread control block; the kernel clears it
// when the thread is gone. Found when the first thread is made: the one place that holds the right
// number in two blocks. One block is not enough: some other field may hold a small number, or the
// upper half of a pointer, that happens to be the process's id.
std::size_t g_tid_offset = 0;
std::uintptr_t g_main_block = 0;

int number_at(std::uintptr_t block, std::size_t offset) {
  return *reinterpret_cast<const int*>(block + offset);
}

// REQUIRES: called on the new kernel thread, whose block this is.
void find_tid_offset(std::uintptr_t block) {
  const auto process = static_cast<int>(raw_syscall(SYS_getpid));
  const auto thread = static_cast<int>(raw_syscall(SYS_gettid));
  for (std::size_t offset = 0x80; offset < 0x600; offset += sizeof(void*)) {
    if (number_at(g_main_block, offset) != process || number_at(block, offset) != thread) continue;
    __atomic_store_n(&g_tid_offset, offset, __ATOMIC_RELEASE);
    return;
  }
  CLEW_CHECK(!"the thread id is where glibc keeps it");
}

void wait_until_gone(pthread_t handle) {
  while (__atomic_load_n(&g_tid_offset, __ATOMIC_ACQUIRE) == 0) raw_syscall(SYS_sched_yield);
  auto* tid = reinterpret_cast<int*>(handle + g_tid_offset);
  while (const int value = __atomic_load_n(tid, __ATOMIC_ACQUIRE))
    raw_syscall(SYS_futex, reinterpret_cast<long>(tid), FUTEX_WAIT, value, 0);
}

void note_thread_locals(Fiber& fiber) {
  fiber.countdown = &__clew_countdown;
  fiber.call_site = &__clew_call_site;
}

// Runs twice, so to say: first on a kernel thread that libc has just made and that ends in
// the middle of it, leaving stack and thread-local storage behind; then as a fiber.
void* thread_body(void* argument) {
  auto* fiber = static_cast<Fiber*>(argument);
  note_thread_locals(*fiber);
  if (g_tid_offset == 0) find_tid_offset(current_thread_pointer());
  clew_context_park_and_exit_thread(&fiber->context);
  g_sched.started();
  end_thread(fiber->start(fiber->argument));
}

int join(Fiber* fiber, void** result, Nanos deadline) {
  if (fiber == g_sched.current) return EDEADLK;
  if (fiber->detached || fiber->joined) return EINVAL;
  if (fiber->state != FiberState::kFinished) {
    if (const int error = before_wait(deadline)) return error;
    fiber->joined = true;
    const bool ended = g_sched.block(clew::abi::WaitKind::kJoin, fiber, deadline);
    fiber->joined = false;
    if (!ended) return ETIMEDOUT;
  }
  if (result != nullptr) *result = fiber->result;
  g_sched.reclaim(fiber);
  return 0;
}

int join_handle(pthread_t handle, void** result, Nanos deadline) {
  Fiber* fiber = g_sched.find(handle);
  return fiber != nullptr ? join(fiber, result, deadline) : ESRCH;
}

}  // namespace

namespace clew::rt {

Fiber* adopt_main_thread() {
  static Fiber main_fiber;
  main_fiber.handle = pthread_self();
  main_fiber.context.thread_pointer = current_thread_pointer();
  note_thread_locals(main_fiber);
  g_main_block = main_fiber.handle;
  return &main_fiber;
}

}  // namespace clew::rt

CLEW_EXPORT int pthread_create(pthread_t* out, const pthread_attr_t* attributes,
                               void* (*start)(void*), void* argument) {
  CLEW_ENTER(pthread_create, out, attributes, start, argument);
  auto* changeable = const_cast<pthread_attr_t*>(attributes);
  int detach_state = PTHREAD_CREATE_JOINABLE;
  // libc's side is always joinable: joining is how the stack goes back to it.
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &detach_state);
  if (detach_state == PTHREAD_CREATE_DETACHED)
    pthread_attr_setdetachstate(changeable, PTHREAD_CREATE_JOINABLE);

  Fiber* fiber = g_sched.new_fiber(g_sched.current);
  fiber->start = start;
  fiber->argument = argument;
  fiber->detached = detach_state == PTHREAD_CREATE_DETACHED;
  const int error = CLEW_REAL(pthread_create)(&fiber->handle, attributes, thread_body, fiber);
  if (detach_state == PTHREAD_CREATE_DETACHED)
    pthread_attr_setdetachstate(changeable, PTHREAD_CREATE_DETACHED);
  if (error != 0) {
    g_sched.discard(fiber);
    return answer(error);
  }
  wait_until_gone(fiber->handle);
  *out = fiber->handle;
  g_sched.add(fiber);
  return answer(0);
}

CLEW_EXPORT int pthread_join(pthread_t handle, void** result) {
  CLEW_ENTER(pthread_join, handle, result);
  return answer(join_handle(handle, result, kForever));
}

CLEW_EXPORT int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  CLEW_ENTER(pthread_tryjoin_np, handle, result);
  Fiber* fiber = g_sched.find(handle);
  if (fiber != nullptr && fiber->state != FiberState::kFinished) return answer(EBUSY);
  return answer(join_handle(handle, result, kForever));
}

CLEW_EXPORT int pthread_timedjoin_np(pthread_t handle, void** result, const timespec* until) {
  CLEW_ENTER(pthread_timedjoin_np, handle, result, until);
  return answer(join_handle(handle, result, deadline_of(CLOCK_REALTIME, until)));
}

CLEW_EXPORT int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                     const timespec* until) {
  CLEW_ENTER(pthread_clockjoin_np, handle, result, clock, until);
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(join_handle(handle, result, deadline_of(clock, until)));
}

CLEW_EXPORT int pthread_detach(pthread_t handle) noexcept {
  CLEW_ENTER(pthread_detach, handle);
  Fiber* fiber = g_sched.find(handle);
  if (fiber == nullptr) return answer(ESRCH);
  if (fiber->detached) return answer(EINVAL);
  fiber->detached = true;
  if (fiber->state == FiberState::kFinished) g_sched.reclaim(fiber);
  return answer(0);
}

CLEW_EXPORT int pthread_once(pthread_once_t* control, void (*routine)(void)) {
  CLEW_ENTER(pthread_once, control, routine);
  return answer(run_once(control, routine, CLEW_CALLER));
}

// Signal 0 only asks whether the thread is there.
CLEW_EXPORT int pthread_kill(pthread_t handle, int signal) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_kill)(handle, signal);
  if (signal != 0) end_unsupported("pthread_kill()");
  return g_sched.find(handle) != nullptr ? 0 : ESRCH;
}

CLEW_EXPORT int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setname_np)(handle, name);
  Fiber* fiber = g_sched.find(handle);
  if (fiber == nullptr) return ESRCH;
  if (strlen(name) >= sizeof fiber->name) return ERANGE;
  strcpy(fiber->name, name);
  Payload payload;
  payload.number(fiber->index).text(name);
  g_log.message(clew::abi::MessageType::kName, payload);
  return 0;
}

CLEW_EXPORT int pthread_getname_np(pthread_t handle, char* name, size_t size) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getname_np)(handle, name, size);
  const Fiber* fiber = g_sched.find(handle);
  if (fiber == nullptr) return ESRCH;
  const char* known = fiber->name[0] != '\0' ? fiber->name : program_invocation_short_name;
  const size_t length = strnlen(known, sizeof fiber->name - 1);
  if (size <= length) return ERANGE;
  memcpy(name, known, length);
  name[length] = '\0';
  return 0;
}
