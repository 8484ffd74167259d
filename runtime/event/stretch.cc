#include "runtime/event/stretch.h"

#include <cstddef>

#include "clew_abi/point.h"
#include "runtime/arena.h"

namespace clew::rt {

constinit Stretch g_stretch;

// The first bit field lies in the lowest bits (System V ABI, section 3.1.2); an order that is not known is 0.
static_assert(sizeof(abi::Point) == 1 && static_cast<int>(abi::MemoryOrder::kNotKnown) == 0);
static_assert(static_cast<int>(abi::PointKind::kCount) <= CLEW_POINT_KIND_MASK + 1);
static_assert(static_cast<int>(abi::PointKind::kLoad) == CLEW_POINT_KIND_LOAD);
static_assert(static_cast<int>(abi::PointKind::kStore) == CLEW_POINT_KIND_STORE);
static_assert(static_cast<int>(abi::PointKind::kFence) == CLEW_POINT_KIND_FENCE);

namespace {
// Of more memory than this, nothing of the stretch is remembered. Chosen: an object is smaller.
constexpr std::uint64_t kMostForgotten = 1024;
}  // namespace

void Stretch::keep() {
  static_assert(offsetof(Stretch, now_) == CLEW_STRETCH_NOW);
  static_assert(offsetof(Stretch, slots_) == CLEW_STRETCH_SLOTS);
  static_assert(sizeof(Slot) == CLEW_STRETCH_SLOT_SIZE);
  // One more than there are: the hooks look at two in a row.
  if (slots_ == nullptr) slots_ = static_cast<Slot*>(arena_alloc((kSlots + 1) * sizeof(Slot)));
}

bool Stretch::repeats_several(std::uintptr_t granule, std::uintptr_t end, std::uint64_t first,
                              Access access) {
  bool all = note(granule, first);
  for (granule += kGranule; granule < end; granule += kGranule)
    all &= note(granule, bytes_of(0, end - granule, access));
  return all;
}

void Stretch::forget(std::uintptr_t begin, std::uint64_t size) {
  if (slots_ == nullptr) return;
  if (size > kMostForgotten) return this->begin();
  for (std::uintptr_t at = begin & ~(kGranule - 1); at < begin + size; at += kGranule)
    if (Slot& slot = slot_of(at); slot.granule == at) slot.granule = 0;
}

}  // namespace clew::rt
