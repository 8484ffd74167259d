// Memory of the detectors: taken from the arena, given back to lists of equal sizes. What a run has
// taken is put back with everything else when a process is put back (snapshot/reset.h).
#ifndef CLEW_RUNTIME_DETECT_POOL_H_
#define CLEW_RUNTIME_DETECT_POOL_H_

#include "runtime/arena.h"
#include "runtime/rt.h"

namespace clew::rt {

class Pool {
 public:
  // The rest of the arena is the scheduler's.
  static constexpr std::size_t kMost = kArenaSize / 4 * 3;

  // Not zeroed. Null: there is no more.
  void* take(std::size_t size) {
    const unsigned order = order_of(size);
    if (Free* block = free_[order]) {
      free_[order] = block->next;
      return block;
    }
    const std::size_t rounded = std::size_t{1} << order;
    if (used_ + rounded > kMost) {
      exhausted_ = true;
      return nullptr;
    }
    used_ += rounded;
    return arena_alloc(rounded);
  }
  // Zeroed, never given back, and as large as it is asked for.
  void* take_fresh(std::size_t size) {
    if (used_ + size > kMost) {
      exhausted_ = true;
      return nullptr;
    }
    used_ += size;
    return arena_alloc(size);
  }
  void give(void* memory, std::size_t size) {
    const unsigned order = order_of(size);
    free_[order] = new (memory) Free{free_[order]};
  }
  template <class T>
  T* make() {
    void* memory = take(sizeof(T));
    return memory != nullptr ? new (memory) T() : nullptr;
  }
  template <class T>
  void drop(T* object) {
    give(object, sizeof(T));
  }
  // Something did not get its memory: from then on not everything is seen.
  bool exhausted() const { return exhausted_; }

 private:
  struct Free {
    Free* next;
  };
  static constexpr unsigned kSmallest = 5;  // 32 bytes
  static unsigned order_of(std::size_t size) {
    const unsigned order = size <= 1 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(size - 1));
    return order < kSmallest ? kSmallest : order;
  }

  Free* free_[48] = {};
  std::size_t used_ = 0;
  bool exhausted_ = false;
};

inline constinit Pool g_pool;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_POOL_H_
