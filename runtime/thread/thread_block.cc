#include "runtime/thread/thread_block.h"

#include <linux/futex.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "runtime/arena.h"
#include "runtime/libc/real.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/active.h"
#include "runtime/thread/in_place.h"
#include "runtime/thread/life.h"

extern "C" {
#define CLEW_TLS(name, type) \
  extern __attribute__((visibility("default"), tls_model("initial-exec"))) __thread type name;
#define CLEW_HOOK(name, ...)
#include "clew_abi/hooks.def"
}

namespace clew::rt {

constinit ThreadLife g_thread_life;

namespace {

// Where glibc keeps the kernel's thread id in its thread control block; the kernel clears it when
// the thread is gone. While no kernel thread belongs to the block, it holds the thread's number:
// libc's own recursive locks tell threads apart by it.
std::size_t g_tid_offset = 0;

int& tid_of(pthread_t handle) { return *reinterpret_cast<int*>(handle + g_tid_offset); }

// Where glibc keeps its bits about cancellation. The runtime's own are in the fiber.
std::size_t g_cancel_offset = 0;

int cancel_bits(const Fiber& fiber) {
  return *reinterpret_cast<const int*>(fiber.handle + g_cancel_offset);
}

// glibc describes its fields for debuggers: size in bits, number of elements, offset.
std::size_t offset_by(const char* description) {
  const auto* field =
      static_cast<const std::uint32_t*>(dlvsym(RTLD_DEFAULT, description, "GLIBC_PRIVATE"));
  CLEW_CHECK(field != nullptr && field[0] == 32);
  return field[2];
}

void find_offsets(pthread_t self) {
  g_tid_offset = offset_by("_thread_db_pthread_tid");
  g_cancel_offset = offset_by("_thread_db_pthread_cancelhandling");
  CLEW_CHECK(tid_of(self) == static_cast<int>(raw_syscall(SYS_gettid)));
}

// Thread numbers are above what a kernel hands out, and the same in every run. A futex has room for
// 30 bits.
constexpr int kMostThreads = 1 << 22;
constexpr int kMostRanges = 1 << 8;
int g_first_number = kMostThreads + 1;

// Of the main thread: one for each process up to this one. Chosen, not measured: checkpoints are
// rarely so deep, and a lock that is held across all of them is rarer.
constexpr std::uint32_t kMostFormer = 64;
int g_former_numbers[kMostFormer];
std::uint32_t g_former_count = 0;

int number_of(const Fiber& fiber) { return g_first_number + static_cast<int>(fiber.index); }

void wait_until_gone(pthread_t handle) {
  int& tid = tid_of(handle);
  while (const int value = __atomic_load_n(&tid, __ATOMIC_ACQUIRE))
    raw_syscall(SYS_futex, reinterpret_cast<long>(&tid), FUTEX_WAIT, value, 0);
}

// A block before it belongs to a thread.
struct Block {
  Context context;
  std::int64_t* countdown;
  const abi::Point** call_site;
  pthread_t handle;
  Fiber* fiber;    // once it belongs to one
  void** way_out;  // back to libc
  Block* next;     // of those that can be used again
};

Block* g_pool = nullptr;
std::uint32_t g_pool_count = 0;
std::uint32_t g_pool_next = 0;
Block* g_free = nullptr;

Block* new_block() {
  Block* block = g_free;
  if (block == nullptr) return arena_new<Block>();
  g_free = block->next;
  *block = {};
  return block;
}

void free_block(Block* block) {
  block->next = g_free;
  g_free = block;
}

// Runs in three parts: first on a kernel thread that libc has just made and that ends in the middle
// of it, leaving stack and thread-local storage behind; then as a fiber; and finally its end, on a
// kernel thread again.
void* thread_body(void* argument) {
  auto* block = static_cast<Block*>(argument);
  block->countdown = &__clew_countdown;
  block->call_site = &__clew_call_site;
  // The way out is not libc's longjmp, which runs the cleanup handlers left behind by a thread that
  // was cancelled in a function of libc, nor a sanitizer's, which does not know the kernel thread.
  void* way_out[5];
  block->way_out = way_out;
  if (__builtin_setjmp(way_out) != 0) return nullptr;
  if (is_begun_in_place())
    park_in_place(block->context);
  else
    clew_context_park_and_exit_thread(&block->context);
  g_thread_life.run(*block->fiber);
  __builtin_unreachable();
}

[[noreturn]] void leave_body(void* block) {
  __builtin_longjmp(static_cast<Block*>(block)->way_out, 1);
}

int make_block(Block& block, const pthread_attr_t* attributes) {
  if (CLEW_LIKELY(can_begin_in_place(attributes))) {
    const int error = begin_in_place(&block.handle, attributes, thread_body, &block);
    if (error == 0) tid_of(block.handle) = 0;
    return error;
  }
  const Uncaught uncaught;
  const NoOwnStack none;
  const int error = CLEW_REAL(pthread_create)(&block.handle, attributes, thread_body, &block);
  if (error == 0) wait_until_gone(block.handle);
  return error;
}

struct Stack {
  void* address;
  std::size_t size, guard;
};

Stack stack_of(const pthread_attr_t& attributes) {
  Stack stack{};
  std::size_t size;
  pthread_attr_getstacksize(&attributes, &stack.size);
  pthread_attr_getguardsize(&attributes, &stack.guard);
  // Without a stack of the program's own, glibc answers the address 0 minus the size.
  if (pthread_attr_getstack(&attributes, &stack.address, &size) != 0) return stack;
  stack.address = static_cast<char*>(stack.address) + size;
  return stack;
}

Stack standard_stack() {
  pthread_attr_t standard;
  pthread_attr_init(&standard);
  return stack_of(standard);
}

Stack g_pool_stack{};

// Whether the program asks for nothing but the stack that blocks of the pool have.
bool is_ordinary(const pthread_attr_t* attributes) {
  const Stack stack = attributes != nullptr ? stack_of(*attributes) : standard_stack();
  return stack.address == g_pool_stack.address && stack.size == g_pool_stack.size &&
         stack.guard == g_pool_stack.guard;
}

}  // namespace

Fiber* adopt_main_thread() {
  static Fiber main_fiber;
  main_fiber.handle = pthread_self();
  main_fiber.context.thread_pointer = current_thread_pointer();
  main_fiber.countdown = &__clew_countdown;
  main_fiber.call_site = &__clew_call_site;
  find_offsets(main_fiber.handle);
  main_fiber.number = tid_of(main_fiber.handle);
  return &main_fiber;
}

// glibc's CANCELSTATE_BITMASK and CANCELTYPE_BITMASK.
bool libc_disables_cancel(const Fiber& fiber) { return (cancel_bits(fiber) & 1) != 0; }
bool libc_waits_for_cancel(const Fiber& fiber) { return (cancel_bits(fiber) & 2) != 0; }

void set_main_number(Fiber& fiber, int number) {
  if (fiber.number != number && g_former_count < kMostFormer)
    g_former_numbers[g_former_count++] = fiber.number;
  g_sched.process = number;
  fiber.number = number;
  tid_of(fiber.handle) = number;
}

bool is_number_of(const Fiber& fiber, int number) {
  if (CLEW_LIKELY(fiber.number == number)) return true;
  if (fiber.number != g_sched.process) return false;
  for (std::uint32_t i = 0; i < g_former_count; ++i)
    if (g_former_numbers[i] == number) return true;
  return false;
}

void set_number_of_copy(Fiber& fiber, int number) {
  set_main_number(fiber, number);
  g_former_count = 0;  // what its parent has locked is not its own
  // The first two ranges are the kernel's and the program's.
  g_first_number = (2 + number % (kMostRanges - 2)) * kMostThreads + 1;
  leave_pool();
}

void use_thread_pointer(Fiber& fiber, std::uintptr_t thread_pointer) {
  const std::uintptr_t distance = thread_pointer - current_thread_pointer();
  fiber.countdown = reinterpret_cast<std::int64_t*>(
      reinterpret_cast<std::uintptr_t>(&__clew_countdown) + distance);
  fiber.call_site = reinterpret_cast<const abi::Point**>(
      reinterpret_cast<std::uintptr_t>(&__clew_call_site) + distance);
  fiber.handle = thread_pointer;
  fiber.number = number_of(fiber);
}

int give_block(Fiber& fiber, const pthread_attr_t* attributes) {
  Block* block = nullptr;
  if (g_pool_next < g_pool_count && is_ordinary(attributes)) {
    block = &g_pool[g_pool_next++];
    fiber.from_pool = true;
    // What libc's pthread_create does for the first thread.
    __libc_single_threaded = 0;
  } else {
    block = new_block();
    if (const int error = make_block(*block, attributes)) {
      free_block(block);
      return error;
    }
  }
  inherit_floating_point(block->context);  // one of the pool was made by another thread
  block->fiber = &fiber;
  fiber.block = block;
  fiber.context = block->context;
  fiber.countdown = block->countdown;
  fiber.call_site = block->call_site;
  fiber.handle = block->handle;
  fiber.number = number_of(fiber);
  tid_of(fiber.handle) = fiber.number;
  return 0;
}

// What libc does at the end of a thread follows the return of the start routine, up to the end of
// the kernel thread; there is no function for it. So a kernel thread returns from the routine, on
// the fiber's stack, and is waited for.
void give_back_block(Fiber& fiber) {
  auto* block = static_cast<Block*>(fiber.block);
  if (CLEW_LIKELY(can_do_in_place())) {
    end_in_place(fiber.context, leave_body, block);
    tid_of(fiber.handle) = 0;
    const Uncaught uncaught;
    const OffDuty off_duty;
    CLEW_REAL(pthread_join)(fiber.handle, nullptr);
    return free_block(block);
  }
  const Uncaught uncaught;
  const NoOwnStack none;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t mask = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&kAll),
              reinterpret_cast<long>(&mask), sizeof mask);
  {
    const OffDuty off_duty;
    const long tid =
        clew_context_run_on_kernel_thread(&fiber.context, &tid_of(fiber.handle), leave_body, block);
    // The system may refuse another thread: then the stack is leaked, which the program cannot
    // tell.
    if (tid > 0) CLEW_REAL(pthread_join)(fiber.handle, nullptr);
  }
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, sizeof mask);
  free_block(block);
}

void fill_pool(std::uint32_t count) {
  if (count == 0) return;
  const char single = __libc_single_threaded;
  g_pool_stack = standard_stack();
  g_pool = static_cast<Block*>(arena_alloc(count * sizeof(Block)));
  while (g_pool_count < count && make_block(g_pool[g_pool_count], nullptr) == 0) ++g_pool_count;
  __libc_single_threaded = single;
}

void leave_pool() { g_pool_next = g_pool_count; }

void renew_pool() {
  const std::uint32_t count = g_pool_count;
  g_pool_count = g_pool_next = 0;
  fill_pool(count);
}

AsKernelThread::AsKernelThread(const Fiber& fiber) : fiber_(fiber) { tid_of(fiber.handle) = 0; }
AsKernelThread::~AsKernelThread() { tid_of(fiber_.handle) = fiber_.number; }

}  // namespace clew::rt
