// Every thread there ever was: for names, which outlive a thread, and for finding those that live.
#ifndef CLEW_RUNTIME_SCHED_THREAD_REGISTRY_H_
#define CLEW_RUNTIME_SCHED_THREAD_REGISTRY_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

class ThreadRegistry {
 public:
  void init(Fiber& main);

  // --- coming and going
  // A thread that `parent` creates. It is not counted as living before note_started().
  Fiber& create(Fiber& parent);
  // Takes back a thread whose creation failed. REQUIRES: it is the youngest.
  void discard(Fiber& fiber);
  void note_started() { ++living_; }
  void note_finished() {
    --living_;
    ++ended_;
  }
  void note_joined() { --ended_; }
  // The thread is gone; its fiber will be used again.
  void forget(Fiber& fiber);
  // The process is a copy in which only `fiber` lives.
  void note_alone() {
    living_ = 1;
    ended_ = 0;
  }

  // --- counts
  std::uint32_t count() const { return count_; }  // that were ever created
  std::uint32_t living() const { return living_; }
  // Whether more than one thread lives: otherwise there is nothing to choose.
  bool has_company() const { return living_ > 1; }
  // Whether what the running thread does could come at another time relative to what another thread
  // does or did: one that has ended counts until it is joined.
  bool had_company() const { return living_ + ended_ > 1; }

  // --- finding
  Fiber* fiber(std::uint32_t index) const { return records_[index].fiber; }  // null: it is gone
  std::uint32_t parent(std::uint32_t index) const { return records_[index].parent; }
  std::uint32_t ordinal(std::uint32_t index) const { return records_[index].ordinal; }
  Fiber* find(pthread_t handle) const;
  Fiber* find_by_key(abi::ThreadKey key) const;  // of those that have not ended
  template <class F>
  void for_each_living(F f) const {
    for (Fiber* fiber = oldest_; fiber != nullptr; fiber = fiber->younger)
      if (fiber->state != FiberState::kFinished) f(*fiber);
  }
  // Those that have ended and are not gone included. `f` may forget the thread.
  template <class F>
  void for_each(F f) const {
    for (Fiber *fiber = oldest_, *next; fiber != nullptr; fiber = next) {
      next = fiber->younger;
      f(*fiber);
    }
  }
  // The path of creation ("T0.2.1").
  void name(std::uint32_t index, char* out, std::size_t size) const;

 private:
  struct Record {
    std::uint32_t parent;
    std::uint32_t ordinal;  // among the parent's children, from 1; 0 for main
    Fiber* fiber;
  };
  // As many as glibc's futexes can tell apart by thread ids above those of the kernel
  // (thread_block.cc).
  static constexpr std::size_t kMost = std::size_t{1} << 22;

  void append(Fiber& fiber);
  void free(Fiber& fiber);

  Record* records_ = nullptr;  // by index
  std::uint32_t count_ = 0;
  std::uint32_t living_ = 0;
  std::uint32_t ended_ = 0;  // and not joined
  Fiber* oldest_ = nullptr;  // of those that are not gone
  Fiber* youngest_ = nullptr;
  Fiber* free_ = nullptr;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_THREAD_REGISTRY_H_
