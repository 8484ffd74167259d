// Accesses that repeat, which most listeners need not hear of.
//
// A stretch is what happens while one thread runs, nothing synchronises, and no memory is allocated or
// freed. An access in it to bytes that the thread has read or written in it before (written, if it
// writes) comes after the earlier one with nothing in between that could make a difference: what
// races with it races with that one, and what it would use after its end, that one has used.
// A listener that looks for such things says so (Hearing::Repeats::kUnheard).
//
// When all who want to hear of each access do, the hooks pass these without calling anybody
// (quick_points_x86_64.S): some thirty instructions, 4 to 5 ns where announcing an event took 27
// (docs/watch.md). They look the access up in a table of what was heard of: by granules of 8 bytes,
// of a fixed size, the newer granule in place of the older one. What is not there is heard of again.
//
// Invariant: nothing here changes what a run does. Accesses that are atomic, or of more than 16 bytes,
// are always heard of.
#ifndef CLEW_RUNTIME_EVENT_STRETCH_H_
#define CLEW_RUNTIME_EVENT_STRETCH_H_

#include "runtime/event/stretch_layout.h"
#include "runtime/rt.h"

namespace clew::rt {

class Stretch {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };

  // Makes the table. Once in a run at most.
  void keep();
  // What comes from now on belongs to another stretch than what came before.
  void begin() { now_ += kOne; }
  // Whether an access of these bytes repeats one that was heard of. From now on it does.
  // REQUIRES: there is a table.
  bool repeats(std::uintptr_t address, std::uint64_t size, Access access) {
    if (size - 1 >= kMostBytes) return false;
    const std::uintptr_t granule = address & ~(kGranule - 1);
    const std::uint64_t first = bytes_of(address - granule, size, access);
    if (CLEW_LIKELY(address + size <= granule + kGranule)) return note(granule, first);
    return repeats_several(granule, address + size, first, access);
  }
  // The memory is something else from now on.
  void forget(std::uintptr_t begin, std::uint64_t size);

 private:
  static constexpr unsigned kGranuleBits = 3;
  static constexpr std::uintptr_t kGranule = 1 << kGranuleBits;
  static constexpr std::uint64_t kOne = 1 << 16;
  static constexpr std::uint64_t kMostBytes = 16;
  static constexpr std::size_t kSlots = std::size_t{1} << CLEW_STRETCH_SLOT_BITS;
  // What one granule was accessed for: the stretch's number, and a bit for each byte that was written
  // (the upper 8 of 16) or read or written (the lower 8).
  struct Slot {
    std::uintptr_t granule;  // its address
    std::uint64_t heard;
  };
  Slot& slot_of(std::uintptr_t granule) const {
    return slots_[granule >> kGranuleBits & (kSlots - 1)];
  }
  // The bits of the first bytes of a granule, from `offset` on.
  static std::uint64_t bytes_of(std::uint64_t offset, std::uint64_t size, Access access) {
    const std::uint64_t bytes = ((std::uint64_t{1} << size) - 1) << offset & 0xff;
    return access == Access::kWrite ? bytes << 8 | bytes : bytes;
  }
  // Whether these bytes of the granule were heard of; from now on they were.
  bool note(std::uintptr_t granule, std::uint64_t bytes) {
    Slot& slot = slot_of(granule);
    if (slot.granule != granule || (slot.heard ^ now_) >= kOne)
      slot = {granule, now_ & ~(kOne - 1)};
    const bool was_heard = (bytes & ~slot.heard) == 0;
    slot.heard |= bytes;
    return was_heard;
  }
  bool repeats_several(std::uintptr_t granule, std::uintptr_t end, std::uint64_t first,
                       Access access);

  // The assembler knows these by their offsets. All 16 lower bits of `now_` are set: the exclusive
  // or with what was heard has those that are missing.
  std::uint64_t now_ = kOne | (kOne - 1);
  Slot* slots_ = nullptr;
};

extern Stretch g_stretch __asm__("clew_stretch");

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_STRETCH_H_
