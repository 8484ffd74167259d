// Who waits for which object. Waiters are found by the address of the object, in a fixed table of
// buckets, so that the objects themselves need no room for a queue.
#ifndef CLEW_RUNTIME_SCHED_WAIT_TABLE_H_
#define CLEW_RUNTIME_SCHED_WAIT_TABLE_H_

#include "runtime/sched/wait.h"

namespace clew::rt {

// Invariant: a wait is linked from link() to unlink(), and its object does not change in between.
// Those of one object stand in the order of waiting.
class WaitTable {
 public:
  void link(Wait& wait);
  // A wait without an object is in no bucket.
  void unlink(Wait& wait);

  // False: nobody waits for it. True: somebody may.
  bool may_have(const void* object) const { return bucket_of(object).head != nullptr; }
  // The longest waiting with one of these bits (futex bitsets); null: none.
  Wait* first(const void* object, std::uint32_t bits = ~0u) const {
    return from(bucket_of(object).head, object, bits);
  }
  // The next of them after `wait`.
  Wait* next(const Wait& wait, const void* object, std::uint32_t bits = ~0u) const {
    return from(wait.next, object, bits);
  }
  bool has(const void* object, abi::WaitKind kind) const;
  // Moves the longest waiting of `from` to the end of those of `to` (futex requeue). Whether there
  // was one.
  bool requeue_one(const void* from, const void* to);

 private:
  static constexpr unsigned kBucketBits = 10;  // 16 KiB; programs with more objects in use are rare
  struct Bucket {
    Wait* head;
    Wait* tail;
  };

  const Bucket& bucket_of(const void* object) const {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return buckets_[((address >> 2) * 0x9e37'79b9'7f4a'7c15) >> (64 - kBucketBits)];
  }
  Bucket& bucket_of(const void* object) {
    return const_cast<Bucket&>(static_cast<const WaitTable*>(this)->bucket_of(object));
  }
  static Wait* from(Wait* wait, const void* object, std::uint32_t bits) {
    while (wait != nullptr && (wait->object != object || (wait->bits & bits) == 0))
      wait = wait->next;
    return wait;
  }

  Bucket buckets_[1u << kBucketBits] = {};
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_WAIT_TABLE_H_
