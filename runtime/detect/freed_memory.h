// Memory that was freed and has not been allocated again: using it, or freeing it again, is an error.
// What has been allocated again is no longer known: addresses are not kept from being reused, because
// then a run would not be the one that is watched.
#ifndef CLEW_RUNTIME_DETECT_FREED_MEMORY_H_
#define CLEW_RUNTIME_DETECT_FREED_MEMORY_H_

#include "runtime/detect/shadow.h"

namespace clew::rt {

class FreedMemory {
 public:
  struct Doing {
    std::uint32_t thread;
    std::uint64_t event;
    std::uint64_t place;  // 0: not known
  };
  struct Block {
    std::uintptr_t address;
    std::uint64_t size;
    Doing allocated;
    Doing freed;
    std::uint64_t marks = 0;  // granules that refer to it
  };

  void allocated(std::uintptr_t address, std::uint64_t size, const Doing& doing);
  // The block that was freed before and lies there still, if there is one: it is freed twice.
  const Block* freed(std::uintptr_t address, std::uint64_t size, const Doing& doing);
  // The freed block that the bytes lie in, if they do.
  const Block* used(std::uintptr_t address, std::uint64_t size) const;
  void forget(std::uintptr_t begin, std::uint64_t size);

 private:
  // By granule: the block, and whether it is freed in the lowest bit.
  using Mark = std::uintptr_t;
  static constexpr Mark kFreed = 1;
  void mark(std::uintptr_t begin, std::uint64_t size, Block& block, Mark freed);
  Block* block_at(std::uintptr_t address) const;

  Shadow<Mark> shadow_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_FREED_MEMORY_H_
