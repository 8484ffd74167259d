#include "runtime/sched/thread_registry.h"

#include "runtime/arena.h"

namespace clew::rt {

void ThreadRegistry::init(Fiber& main) {
  // Not zeroed by touch: the arena's pages appear as they are used.
  records_ = static_cast<Record*>(arena_alloc(kMost * sizeof(Record)));
  main.index = 0;
  main.key = abi::kMainThreadKey;
  main.own_stack = make_own_stack();
  records_[0] = {0, 0, &main};
  count_ = living_ = 1;
  append(main);
}

Fiber& ThreadRegistry::create(Fiber& parent) {
  CLEW_CHECK(count_ < kMost);
  Fiber* fiber = free_;
  if (fiber != nullptr) {
    free_ = fiber->next;
    const OwnStack own_stack = fiber->own_stack.unused();
    *fiber = Fiber();
    fiber->own_stack = own_stack;
  } else {
    fiber = arena_new<Fiber>();
    fiber->own_stack = make_own_stack();
  }
  fiber->index = count_;
  fiber->signals.mask = parent.signals.mask;
  records_[count_++] = {parent.index, ++parent.children, fiber};
  fiber->key = abi::child_key(parent.key, parent.children);
  append(*fiber);
  return *fiber;
}

void ThreadRegistry::append(Fiber& fiber) {
  fiber.older = youngest_;
  fiber.younger = nullptr;
  (youngest_ != nullptr ? youngest_->younger : oldest_) = &fiber;
  youngest_ = &fiber;
}

void ThreadRegistry::free(Fiber& fiber) {
  (fiber.older != nullptr ? fiber.older->younger : oldest_) = fiber.younger;
  (fiber.younger != nullptr ? fiber.younger->older : youngest_) = fiber.older;
  fiber.next = free_;
  free_ = &fiber;
}

void ThreadRegistry::forget(Fiber& fiber) {
  records_[fiber.index].fiber = nullptr;
  free(fiber);
}

void ThreadRegistry::discard(Fiber& fiber) {
  CLEW_CHECK(fiber.index + 1 == count_);
  --records_[records_[fiber.index].parent].fiber->children;
  records_[fiber.index].fiber = nullptr;
  --count_;
  free(fiber);
}

Fiber* ThreadRegistry::find(pthread_t handle) const {
  for (Fiber* fiber = oldest_; fiber != nullptr; fiber = fiber->younger)
    if (fiber->handle == handle) return fiber;
  return nullptr;
}

Fiber* ThreadRegistry::find_by_key(abi::ThreadKey key) const {
  Fiber* found = nullptr;
  for_each_living([&](Fiber& fiber) {
    if (fiber.key == key) found = &fiber;
  });
  return found;
}

void ThreadRegistry::name(std::uint32_t index, char* out, std::size_t size) const {
  char reversed[1024];
  std::size_t at = sizeof reversed;
  reversed[--at] = '\0';
  for (; index != 0 && at > 16; index = records_[index].parent) {
    for (std::uint32_t n = records_[index].ordinal; n != 0; n /= 10)
      reversed[--at] = static_cast<char>('0' + n % 10);
    reversed[--at] = '.';
  }
  reversed[--at] = '0';
  reversed[--at] = 'T';
  // By hand: a debugger that goes back would step into a function of libc's, and show that.
  std::size_t length = 0;
  for (; length + 1 < size && reversed[at + length] != '\0'; ++length)
    out[length] = reversed[at + length];
  out[length] = '\0';
}

}  // namespace clew::rt
