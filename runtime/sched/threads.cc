// Coming and going of threads, and their names.
#include <signal.h>
#include <sys/syscall.h>

#include <cstdio>
#include <cstring>

#include "runtime/arena.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/end.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {

Fiber* Scheduler::new_fiber(Fiber* parent) {
  Fiber* fiber = free_fibers_;
  if (fiber != nullptr) {
    free_fibers_ = fiber->next;
    const OwnStack own_stack = fiber->own_stack.unused();
    *fiber = Fiber();
    fiber->own_stack = own_stack;
  } else {
    fiber = arena_new<Fiber>();
    fiber->own_stack = make_own_stack();
  }
  CLEW_CHECK(thread_count < kMaxThreads);
  fiber->index = thread_count;
  fiber->signals.mask = parent->signals.mask;
  threads[thread_count++] = {parent->index, ++parent->children, fiber};
  fiber->key = abi::child_key(parent->key, parent->children);
  fiber->older = youngest_;
  (youngest_ != nullptr ? youngest_->younger : oldest_) = fiber;
  youngest_ = fiber;
  return fiber;
}

void Scheduler::forget(Fiber* fiber) {
  threads[fiber->index].fiber = nullptr;
  free_fiber(fiber);
}

void Scheduler::free_fiber(Fiber* fiber) {
  (fiber->older != nullptr ? fiber->older->younger : oldest_) = fiber->younger;
  (fiber->younger != nullptr ? fiber->younger->older : youngest_) = fiber->older;
  fiber->next = free_fibers_;
  free_fibers_ = fiber;
}

// Takes back a thread whose creation failed. REQUIRES: it is the youngest.
void Scheduler::discard(Fiber* fiber) {
  CLEW_CHECK(fiber->index + 1 == thread_count);
  --threads[threads[fiber->index].parent].fiber->children;
  threads[fiber->index].fiber = nullptr;
  --thread_count;
  free_fiber(fiber);
}

void Scheduler::add(Fiber* fiber) {
  g_log.thread_created(*fiber, threads[fiber->index]);
  ++living_;
  strategy_->created(candidate_of(*fiber), threads[threads[fiber->index].parent].fiber->key);
  if (g_debugging) debug_table_update(*fiber);
  enqueue(fiber);
}

void Scheduler::started() {
  clew_own_top = current->own_stack.top;
  clew_call_on_own_stack([] { g_sched.resumed(); });
}

void Scheduler::finish_current() {
  settle_clock();
  Fiber* fiber = current;
  fiber->state = FiberState::kFinished;
  g_log.fold(0xf1u ^ clock_ << 8 ^ fiber->index);
  strategy_->finished(candidate_of(*fiber));
  wake_all(fiber);
  if (fiber->detached) zombie_ = fiber;
  ++ended_;
  if (--living_ == 0) {
    // The last thread is over (main left through pthread_exit): the process ends as by exit(0).
    fiber->state = FiberState::kRunning;
    exit(0);
  }
  switch_to(next_to_run(), abi::SliceEnd::kFinished);
  __builtin_unreachable();
}

// What they hold stays held. Their stacks are libc's to give back.
void Scheduler::forget_others() {
  settle_clock();
  company_ = last_company();
  company_since_ = kNever;
  queue_ = {};
  for (Fiber *fiber = oldest_, *next; fiber != nullptr; fiber = next) {
    next = fiber->younger;
    if (fiber == current) continue;
    for (Wait* wait = fiber->wait; wait != nullptr; wait = wait->outer) abandon(*wait);
    fiber->state = FiberState::kFinished;
    if (g_debugging) debug_table_update(*fiber);
    forget(fiber);
  }
  current->joiner = nullptr;
  current->robust = nullptr;  // held by another process
  living_ = 1;
  ended_ = 0;
  g_log.fold(0xc09e ^ clock_ << 16 ^ current->index);
  rearm();
}

// Gives a finished thread's stack and thread-local storage back to libc, which believes that
// the kernel thread has just ended.
void Scheduler::reclaim(Fiber* fiber) {
  // A block of the pool stays: it is used once, and its place must not depend on what ended when.
  if (fiber->block != nullptr && !fiber->from_pool) give_back_block(*fiber);
  forget(fiber);
}

Fiber* Scheduler::find(pthread_t handle) {
  for (Fiber* fiber = oldest_; fiber != nullptr; fiber = fiber->younger)
    if (fiber->handle == handle) return fiber;
  return nullptr;
}

Fiber* Scheduler::find_by_key(abi::ThreadKey key) {
  Fiber* found = nullptr;
  for_each_living([&](Fiber& fiber) {
    if (fiber.key == key) found = &fiber;
  });
  return found;
}

bool Scheduler::is_named(std::uint64_t index, const char* name) const {
  char id[1024];
  format_id(static_cast<std::uint32_t>(index), id, sizeof id);
  return strcmp(id, name) == 0;
}

void Scheduler::format_id(std::uint32_t index, char* out, std::size_t size) const {
  char reversed[1024];
  std::size_t at = sizeof reversed;
  reversed[--at] = '\0';
  for (; index != 0 && at > 16; index = threads[index].parent) {
    for (std::uint32_t n = threads[index].ordinal; n != 0; n /= 10)
      reversed[--at] = static_cast<char>('0' + n % 10);
    reversed[--at] = '.';
  }
  snprintf(out, size, "T0%s", reversed + at);
}

}  // namespace clew::rt
