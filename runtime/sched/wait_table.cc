#include "runtime/sched/wait_table.h"

namespace clew::rt {

void WaitTable::link(Wait& wait) {
  Bucket& bucket = bucket_of(wait.object);
  wait.next = nullptr;
  wait.previous = bucket.tail;
  (bucket.tail != nullptr ? bucket.tail->next : bucket.head) = &wait;
  bucket.tail = &wait;
}

void WaitTable::unlink(Wait& wait) {
  if (wait.object == nullptr) return;
  Bucket& bucket = bucket_of(wait.object);
  (wait.previous != nullptr ? wait.previous->next : bucket.head) = wait.next;
  (wait.next != nullptr ? wait.next->previous : bucket.tail) = wait.previous;
  wait.next = wait.previous = nullptr;
}

bool WaitTable::has(const void* object, abi::WaitKind kind) const {
  for (const Wait* wait = first(object); wait != nullptr; wait = next(*wait, object))
    if (wait->kind == kind) return true;
  return false;
}

bool WaitTable::requeue_one(const void* from, const void* to) {
  Wait* wait = first(from);
  if (wait == nullptr) return false;
  unlink(*wait);
  wait->object = to;
  link(*wait);
  return true;
}

}  // namespace clew::rt
