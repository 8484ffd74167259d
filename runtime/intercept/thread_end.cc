// The end of a thread: pthread_exit, cleanup handlers, destructors of thread-local objects and of
// keys, in the order of glibc's start_thread.
#include <limits.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unwind.h>

#include "runtime/fiber/context.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/intercept/call.h"
#include "runtime/intercept/thread.h"
#include "runtime/raw_syscall.h"
#include "runtime/sync/models.h"
#include "runtime/syscall/cloned_thread.h"

using namespace clew::rt;

namespace {

void (*g_key_destructors[PTHREAD_KEYS_MAX])(void*);
pthread_key_t g_key_end = 0;

// Private to libc, but what glibc calls at the end of a thread since 2.18.
void (*g_destroy_thread_locals)() = nullptr;

// Functions of libc (aio_suspend) register cleanup handlers with these, for libc's unwinding, which
// the runtime replaces. The list is in the thread control block.
void (*g_push_libc_cleanup)(_pthread_cleanup_buffer*, void (*)(void*), void*) = nullptr;
void (*g_pop_libc_cleanup)(_pthread_cleanup_buffer*, int) = nullptr;

// Runs those of the frames below `frame`, innermost first.
void run_libc_cleanups(std::uintptr_t frame) {
  if (g_push_libc_cleanup == nullptr || g_pop_libc_cleanup == nullptr) return;
  for (;;) {
    _pthread_cleanup_buffer probe;
    g_push_libc_cleanup(&probe, nullptr, nullptr);
    g_pop_libc_cleanup(&probe, 0);
    _pthread_cleanup_buffer* newest = probe.__prev;
    if (newest == nullptr || reinterpret_cast<std::uintptr_t>(newest) >= frame) return;
    g_pop_libc_cleanup(newest, 1);
  }
}

void destroy_keys() {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool any = false;
    for (pthread_key_t key = 0; key < g_key_end; ++key) {
      void (*destructor)(void*) = g_key_destructors[key];
      void* value = destructor != nullptr ? pthread_getspecific(key) : nullptr;
      if (value == nullptr) continue;
      pthread_setspecific(key, nullptr);
      destructor(value);
      any = true;
    }
    if (!any) return;
  }
  // What is left after the last round is dropped: libc must not find it when it frees the thread.
  for (pthread_key_t key = 0; key < g_key_end; ++key)
    if (g_key_destructors[key] != nullptr && pthread_getspecific(key) != nullptr)
      pthread_setspecific(key, nullptr);
}

// What pthread_cleanup_push of C code without -fexceptions leaves on its stack. libc uses
// the padding for its own list; so do we.
struct CleanupBuffer {
  __jmp_buf registers;
  int mask_was_saved;
  CleanupBuffer* previous;
  bool was_asynchronous;  // of pthread_cleanup_push_defer_np
};
static_assert(sizeof(CleanupBuffer) <= sizeof(__pthread_unwind_buf_t));

std::uintptr_t stack_pointer_of(const CleanupBuffer& buffer) {
  constexpr int kStackPointer = 6;  // glibc's JB_RSP
  return clew_demangle_pointer(static_cast<std::uintptr_t>(buffer.registers[kStackPointer]));
}

CleanupBuffer& push_cleanup(__pthread_unwind_buf_t* buffer) {
  auto* ours = reinterpret_cast<CleanupBuffer*>(buffer);
  ours->previous = static_cast<CleanupBuffer*>(g_sched.current->cleanup);
  g_sched.current->cleanup = ours;
  return *ours;
}

CleanupBuffer& pop_cleanup(__pthread_unwind_buf_t* buffer) {
  auto* ours = reinterpret_cast<CleanupBuffer*>(buffer);
  g_sched.current->cleanup = ours->previous;
  return *ours;
}

// Destructors of the program's are to run on its stack.
[[noreturn]] void end_unwound_thread() {
  if (is_on_own_stack())
    clew_call_on_stack([](int, siginfo_t*, void*) { end_thread(g_sched.current->result); }, 0,
                       nullptr, nullptr, reinterpret_cast<void*>(entry().stack));
  end_thread(g_sched.current->result);
}

// Called for every frame that is unwound. Stops at the innermost cleanup handler once its frame
// is reached, and at the end of the stack.
_Unwind_Reason_Code stop_at_cleanup(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                    _Unwind_Exception*, _Unwind_Context* context, void*) {
  Fiber& self = *g_sched.current;
  auto* buffer = static_cast<CleanupBuffer*>(self.cleanup);
  const bool at_end = (actions & _UA_END_OF_STACK) != 0;
  // Frames of the runtime have no cleanup handlers.
  const std::uintptr_t frame = at_end ? UINTPTR_MAX : _Unwind_GetCFA(context);
  if (is_on_own_stack(frame)) return _URC_NO_REASON;
  run_libc_cleanups(frame);
  if (buffer != nullptr && frame >= stack_pointer_of(*buffer))
    _longjmp(reinterpret_cast<__jmp_buf_tag*>(buffer), 1);
  if (at_end) end_unwound_thread();
  return _URC_NO_REASON;
}

// The program caught the exception that unwinds the thread and did not rethrow it. The message is
// glibc's.
void not_rethrown(_Unwind_Reason_Code, _Unwind_Exception*) {
  static constexpr char kText[] = "FATAL: exception not rethrown\n";
  raw_syscall(SYS_write, 2, reinterpret_cast<long>(kText), sizeof kText - 1);
  abort();
}

}  // namespace

namespace clew::rt {

// This cannot wait until the first thread ends: another may be in a constructor of a library that
// it loads, hold the loader's lock, and wait for that end.
void resolve_thread_end() {
  g_destroy_thread_locals =
      reinterpret_cast<void (*)()>(dlvsym(RTLD_NEXT, "__call_tls_dtors", "GLIBC_PRIVATE"));
  g_push_libc_cleanup =
      reinterpret_cast<decltype(g_push_libc_cleanup)>(dlsym(RTLD_NEXT, "_pthread_cleanup_push"));
  g_pop_libc_cleanup =
      reinterpret_cast<decltype(g_pop_libc_cleanup)>(dlsym(RTLD_NEXT, "_pthread_cleanup_pop"));
}

void unwind_thread() {
  Fiber& self = *g_sched.current;
  self.cancellation.ending = true;
  self.unwinding = {};
  self.unwinding.exception_cleanup = not_rethrown;
  _Unwind_ForcedUnwind(&self.unwinding, stop_at_cleanup, nullptr);
  end_unwound_thread();  // no unwind information: nothing to clean up
}

void end_thread(void* result) {
  Fiber& self = *g_sched.current;
  self.result = result;
  self.cancellation.ending = true;
  if (g_destroy_thread_locals != nullptr) g_destroy_thread_locals();
  destroy_keys();
  mutex_owner_ends(self);
  clear_number(self);
  if (g_sched.threads.has_company()) clew_call_on_own_stack([] { g_sched.finish_current(); });
  g_sched.finish_current();  // the program ends with it
}

int create_key(pthread_key_t* key, void (*destructor)(void*)) {
  const int error = CLEW_REAL(pthread_key_create)(key, destructor);
  if (error == 0 && *key < PTHREAD_KEYS_MAX) {
    g_key_destructors[*key] = destructor;
    if (*key >= g_key_end) g_key_end = *key + 1;
  }
  return error;
}

int delete_key(pthread_key_t key) {
  const int error = CLEW_REAL(pthread_key_delete)(key);
  if (error == 0 && key < PTHREAD_KEYS_MAX) g_key_destructors[key] = nullptr;
  return error;
}

}  // namespace clew::rt

CLEW_EXPORT void pthread_exit(void* result) {
  if (!g_sched.active) {
    CLEW_REAL(pthread_exit)(result);
    __builtin_unreachable();
  }
  enter(operation("pthread_exit"), CLEW_CALLER);
  g_sched.current->result = result;
  unwind_thread();
}

CLEW_EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t* buffer) {
  if (!g_sched.active) return CLEW_REAL(__pthread_register_cancel)(buffer);
  push_cleanup(buffer);
}

CLEW_EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer) {
  if (!g_sched.active) return CLEW_REAL(__pthread_unregister_cancel)(buffer);
  pop_cleanup(buffer);
}

CLEW_EXPORT void __pthread_register_cancel_defer(__pthread_unwind_buf_t* buffer) {
  if (!g_sched.active) return CLEW_REAL(__pthread_register_cancel_defer)(buffer);
  bool& asynchronous = g_sched.current->cancellation.asynchronous;
  push_cleanup(buffer).was_asynchronous = asynchronous;
  asynchronous = false;
}

CLEW_EXPORT void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t* buffer) {
  if (!g_sched.active) return CLEW_REAL(__pthread_unregister_cancel_restore)(buffer);
  if (pop_cleanup(buffer).was_asynchronous)
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
}

CLEW_EXPORT void __pthread_unwind_next(__pthread_unwind_buf_t* buffer) {
  if (!g_sched.active) {
    CLEW_REAL(__pthread_unwind_next)(buffer);
    __builtin_unreachable();
  }
  pop_cleanup(buffer);
  unwind_thread();
}

CLEW_INTERPOSE int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  return create_key(key, destructor);
}

CLEW_INTERPOSE int pthread_key_delete(pthread_key_t key) noexcept { return delete_key(key); }
