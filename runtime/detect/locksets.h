// The locks that threads hold, as sets with numbers: an access keeps the number.
#ifndef CLEW_RUNTIME_DETECT_LOCKSETS_H_
#define CLEW_RUNTIME_DETECT_LOCKSETS_H_

#include "clew_abi/stream.h"
#include "clew_abi/watch.h"
#include "runtime/detect/pool.h"

namespace clew::rt {

struct LockHeld {
  std::uintptr_t object;
  abi::WaitKind kind;
};

// In the order of taking. Of more than there is room for, the first.
struct Lockset {
  static constexpr std::uint32_t kMost = abi::kMaxFindingLocks;
  LockHeld held[kMost];
  std::uint32_t count;
};

class Locksets {
 public:
  using Number = std::uint16_t;
  static constexpr Number kNone = 0;

  // Equal sets taken in the same order have the same number. kNone: it is empty, or there are too
  // many different ones.
  Number number_of(const Lockset& set);
  const Lockset& get(Number number) const {
    static constexpr Lockset kEmpty{};
    return number != kNone ? *sets_[number] : kEmpty;
  }

 private:
  static constexpr std::uint32_t kMostSets = 1u << 16;
  static constexpr std::uint32_t kSlots = kMostSets * 2;
  Lockset** sets_ = nullptr;
  Number* slots_ = nullptr;
  std::uint32_t count_ = 0;
};

// The set of one thread.
class HeldLocks {
 public:
  void take(std::uintptr_t object, abi::WaitKind kind) {
    known_ = false;
    if (set_.count < Lockset::kMost) set_.held[set_.count++] = {object, kind};
  }
  void release(std::uintptr_t object) {
    for (std::uint32_t i = set_.count; i-- > 0;) {
      if (set_.held[i].object != object) continue;
      for (std::uint32_t j = i + 1; j < set_.count; ++j) set_.held[j - 1] = set_.held[j];
      --set_.count;
      known_ = false;
      return;
    }
  }
  Locksets::Number number(Locksets& sets) {
    if (!known_) number_ = sets.number_of(set_);
    known_ = true;
    return number_;
  }
  bool has_number() const { return known_; }
  const Lockset& set() const { return set_; }

 private:
  Lockset set_ = {};
  bool known_ = true;
  Locksets::Number number_ = Locksets::kNone;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_LOCKSETS_H_
