#include "runtime/detect/locksets.h"

namespace clew::rt {
namespace {

bool equal(const Lockset& a, const Lockset& b) {
  if (a.count != b.count) return false;
  for (std::uint32_t i = 0; i < a.count; ++i)
    if (a.held[i].object != b.held[i].object || a.held[i].kind != b.held[i].kind) return false;
  return true;
}

std::uint64_t hash_of(const Lockset& set) {
  std::uint64_t hash = set.count;
  for (std::uint32_t i = 0; i < set.count; ++i)
    hash = (hash ^ set.held[i].object ^ static_cast<std::uint64_t>(set.held[i].kind) << 56) *
           0x9e37'79b9'7f4a'7c15;
  return hash >> 32;
}

}  // namespace

Locksets::Number Locksets::number_of(const Lockset& set) {
  if (set.count == 0) return kNone;
  if (slots_ == nullptr) {
    slots_ = static_cast<Number*>(g_pool.take_fresh(kSlots * sizeof *slots_));
    sets_ = static_cast<Lockset**>(g_pool.take_fresh(kMostSets * sizeof *sets_));
  }
  if (slots_ == nullptr || sets_ == nullptr) return kNone;
  for (std::uint64_t at = hash_of(set) % kSlots;; at = (at + 1) % kSlots) {
    Number& slot = slots_[at];
    if (slot != kNone && equal(*sets_[slot], set)) return slot;
    if (slot != kNone) continue;
    Lockset* kept = count_ + 1 < kMostSets ? g_pool.make<Lockset>() : nullptr;
    if (kept == nullptr) return kNone;
    *kept = set;
    slot = static_cast<Number>(++count_);
    sets_[slot] = kept;
    return slot;
  }
}

}  // namespace clew::rt
