#include "runtime/intercept/thread_block.h"

#include <linux/futex.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "runtime/arena.h"
#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/real.h"
#include "runtime/intercept/thread.h"
#include "runtime/sched/scheduler.h"

extern "C" {
#define CLEW_TLS(name, type) \
  extern __attribute__((visibility("default"), tls_model("initial-exec"))) __thread type name;
#define CLEW_HOOK(name, ...)
#include "clew_abi/hooks.def"
}

namespace clew::rt {
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
  check_failed("the thread id is where glibc keeps it", __FILE__, __LINE__);
}

void wait_until_gone(pthread_t handle) {
  while (__atomic_load_n(&g_tid_offset, __ATOMIC_ACQUIRE) == 0) raw_syscall(SYS_sched_yield);
  auto* tid = reinterpret_cast<int*>(handle + g_tid_offset);
  while (const int value = __atomic_load_n(tid, __ATOMIC_ACQUIRE))
    raw_syscall(SYS_futex, reinterpret_cast<long>(tid), FUTEX_WAIT, value, 0);
}

// A block before it belongs to a thread.
struct Block {
  Context context;
  std::int64_t* countdown;
  const abi::Point** call_site;
  pthread_t handle;
  Fiber* fiber;  // once it belongs to one
};

Block* g_pool = nullptr;
std::uint32_t g_pool_count = 0;
std::uint32_t g_pool_next = 0;
std::size_t g_pool_stack = 0;

// Runs twice, so to say: first on a kernel thread that libc has just made and that ends in
// the middle of it, leaving stack and thread-local storage behind; then as a fiber.
void* thread_body(void* argument) {
  auto* block = static_cast<Block*>(argument);
  block->countdown = &__clew_countdown;
  block->call_site = &__clew_call_site;
  if (g_tid_offset == 0) find_tid_offset(current_thread_pointer());
  clew_context_park_and_exit_thread(&block->context);
  Fiber* fiber = block->fiber;
  g_sched.started();
  end_thread(fiber->start(fiber->argument));
}

int make_block(Block& block, const pthread_attr_t* attributes) {
  const int error = CLEW_REAL(pthread_create)(&block.handle, attributes, thread_body, &block);
  if (error == 0) wait_until_gone(block.handle);
  return error;
}

// What the program asks for: nothing but the default stack.
bool is_ordinary(const pthread_attr_t* attributes) {
  if (attributes == nullptr) return true;
  pthread_attr_t standard;
  pthread_attr_init(&standard);
  void* stack = nullptr;
  std::size_t own_size = 0;
  std::size_t size = 0;
  std::size_t guard = 0;
  std::size_t standard_guard = 0;
  if (pthread_attr_getstack(attributes, &stack, &own_size) != 0) return false;
  pthread_attr_getstacksize(attributes, &size);
  pthread_attr_getguardsize(attributes, &guard);
  pthread_attr_getguardsize(&standard, &standard_guard);
  // Without a stack of the program's own, glibc answers the address 0 minus the size.
  return size == g_pool_stack && guard == standard_guard &&
         reinterpret_cast<std::uintptr_t>(stack) + own_size == 0;
}

}  // namespace

Fiber* adopt_main_thread() {
  static Fiber main_fiber;
  main_fiber.handle = pthread_self();
  main_fiber.context.thread_pointer = current_thread_pointer();
  main_fiber.countdown = &__clew_countdown;
  main_fiber.call_site = &__clew_call_site;
  g_main_block = main_fiber.handle;
  return &main_fiber;
}

int give_block(Fiber& fiber, const pthread_attr_t* attributes) {
  Block* block = nullptr;
  if (g_pool_next < g_pool_count && is_ordinary(attributes)) {
    block = &g_pool[g_pool_next++];
    fiber.from_pool = true;
    // What libc's pthread_create does for the first thread.
    __libc_single_threaded = 0;
  } else {
    block = arena_new<Block>();
    if (const int error = make_block(*block, attributes)) return error;
  }
  block->fiber = &fiber;
  fiber.context = block->context;
  fiber.countdown = block->countdown;
  fiber.call_site = block->call_site;
  fiber.handle = block->handle;
  return 0;
}

void fill_pool(std::uint32_t count) {
  if (count == 0) return;
  const char single = __libc_single_threaded;
  pthread_attr_t standard;
  pthread_attr_init(&standard);
  pthread_attr_getstacksize(&standard, &g_pool_stack);
  g_pool = static_cast<Block*>(arena_alloc(count * sizeof(Block)));
  while (g_pool_count < count && make_block(g_pool[g_pool_count], nullptr) == 0) ++g_pool_count;
  __libc_single_threaded = single;
}

}  // namespace clew::rt
