#include "runtime/detect/freed_memory.h"

namespace clew::rt {

FreedMemory::Block* FreedMemory::block_at(std::uintptr_t address) const {
  const Mark* mark = shadow_.find(address);
  return mark != nullptr ? reinterpret_cast<Block*>(*mark & ~kFreed) : nullptr;
}

// Blocks begin at multiples of the granule: what allocators give is aligned.
void FreedMemory::mark(std::uintptr_t begin, std::uint64_t size, Block& block, Mark freed) {
  for (std::uintptr_t at = begin; at < begin + size; at += kGranule) {
    Mark* slot = shadow_.at(at);
    if (slot == nullptr) return;
    *slot = reinterpret_cast<Mark>(&block) | freed;
    ++block.marks;
  }
}

void FreedMemory::allocated(std::uintptr_t address, std::uint64_t size, const Doing& doing) {
  forget(address, size);
  auto* block = g_pool.make<Block>();
  if (block == nullptr) return;
  *block = {address, size, doing, {}, 0};
  // Of a block in use only the beginning is needed, to know it when it is freed.
  mark(address, kGranule, *block, 0);
}

const FreedMemory::Block* FreedMemory::freed(std::uintptr_t address, std::uint64_t size,
                                             const Doing& doing) {
  const Mark* known = shadow_.find(address);
  Block* block = block_at(address);
  if (known != nullptr && (*known & kFreed) != 0 && block->address == address) return block;
  const Doing allocated =
      block != nullptr && block->address == address ? block->allocated : Doing{};
  forget(address, size);
  block = g_pool.make<Block>();
  if (block == nullptr) return nullptr;
  *block = {address, size, allocated, doing, 0};
  mark(address, size, *block, kFreed);
  return nullptr;
}

const FreedMemory::Block* FreedMemory::used(std::uintptr_t address, std::uint64_t size) const {
  for (std::uintptr_t at = address & ~(kGranule - 1); at < address + size; at += kGranule) {
    const Mark* mark = shadow_.find(at);
    if (mark != nullptr && (*mark & kFreed) != 0)
      return reinterpret_cast<const Block*>(*mark & ~kFreed);
  }
  return nullptr;
}

void FreedMemory::forget(std::uintptr_t begin, std::uint64_t size) {
  shadow_.each(begin, begin + size, [](std::uintptr_t, Mark& mark) {
    auto* block = reinterpret_cast<Block*>(mark & ~kFreed);
    mark = 0;
    if (block != nullptr && --block->marks == 0) g_pool.drop(block);
  });
}

}  // namespace clew::rt
