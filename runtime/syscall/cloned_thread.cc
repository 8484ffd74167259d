// Threads that are not made with pthread_create: libc's own (asynchronous input and output, message
// queues that notify by a thread), and those of programs that do without libc. Such a thread is a
// fiber on the stack, and with the thread-local storage, that the call names. It resumes after the
// call, and ends with the exit system call.
#include "runtime/syscall/cloned_thread.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/signal_stack.h"
#include "runtime/record/end.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"
#include "runtime/sync/models.h"
#include "runtime/syscall/copy.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {
namespace {

struct Wish {
  std::uint64_t flags;
  std::uintptr_t stack_end;
  std::uintptr_t thread_pointer;
  int* number_for_parent;
  int* number_for_child;
};

template <class T>
T* pointer(std::uint64_t value) {
  return reinterpret_cast<T*>(value);
}

Wish wish_of(const Call& call) {
  if (call.number == SYS_clone3) {
    const auto& wanted = *reinterpret_cast<const clone_args*>(call.a[0]);
    return {wanted.flags, wanted.stack != 0 ? wanted.stack + wanted.stack_size : 0, wanted.tls,
            pointer<int>(wanted.parent_tid), pointer<int>(wanted.child_tid)};
  }
  return {static_cast<std::uint64_t>(call.a[0]), static_cast<std::uintptr_t>(call.a[1]),
          static_cast<std::uintptr_t>(call.a[4]), reinterpret_cast<int*>(call.a[2]),
          reinterpret_cast<int*>(call.a[3])};
}

// The first function on the new stack, below the registers.
void begin() {
  g_sched.started();
  Fiber& self = *g_sched.current;
  if (self.disturbed) attend(self, kUndisturbed);
  clew_resume_at(static_cast<const greg_t*>(self.argument));
}

// Puts the registers that the thread begins with on its own stack, which it does not use before it
// has them.
void park_at_call(Fiber& fiber, const Wish& wish, const ucontext_t& caught) {
  constexpr std::uintptr_t kRoom = (sizeof(gregset_t) + 128) & ~std::uintptr_t{15};
  const std::uintptr_t below = (wish.stack_end - kRoom) & ~std::uintptr_t{15};
  auto* registers = reinterpret_cast<greg_t*>(below);
  memcpy(registers, caught.uc_mcontext.gregs, sizeof caught.uc_mcontext.gregs);
  registers[REG_RSP] = static_cast<greg_t>(wish.stack_end);
  fiber.argument = registers;
  init_parked_context(fiber.context, registers, begin);
  fiber.context.thread_pointer = wish.thread_pointer;
}

}  // namespace

long clone_thread(const Call& call) {
  const Wish wish = wish_of(call);
  // Without thread-local storage of its own it could not be told from its creator.
  if (call.caught == nullptr || wish.stack_end == 0 || (wish.flags & CLONE_SETTLS) == 0)
    end_unsupported("clone() of a thread that shares its creator's stack or thread-local storage");
  if (!keep_copy_with_threads())
    end_unsupported("clone() of a thread in a copy of the program that is not recorded");
  const Fiber& creator = *g_sched.current;
  Fiber& fiber = g_sched.threads.create(*g_sched.current);
  fiber.cloned = true;
  fiber.detached = true;
  fiber.scheduling = creator.scheduling;
  memcpy(fiber.name, creator.name, sizeof fiber.name);
  use_thread_pointer(fiber, wish.thread_pointer);
  park_at_call(fiber, wish, *call.caught);
  if ((wish.flags & CLONE_PARENT_SETTID) != 0) *wish.number_for_parent = fiber.number;
  if ((wish.flags & CLONE_CHILD_SETTID) != 0) *wish.number_for_child = fiber.number;
  if ((wish.flags & CLONE_CHILD_CLEARTID) != 0) fiber.number_to_clear = wish.number_for_child;
  g_sched.add(fiber);
  return fiber.number;
}

void clear_number(Fiber& fiber) {
  if (fiber.number_to_clear == nullptr) return;
  *fiber.number_to_clear = 0;
  futex(reinterpret_cast<std::uint32_t*>(fiber.number_to_clear), FUTEX_WAKE, 1, nullptr, nullptr,
        0);
}

void end_cloned_thread() {
  Fiber& self = *g_sched.current;
  if (!self.cloned) end_unsupported("the exit system call of a single thread");
  self.guarded = false;
  self.cancellation.ending = true;
  mutex_owner_ends(self);
  clear_number(self);
  g_sched.finish_current();
}

}  // namespace clew::rt
