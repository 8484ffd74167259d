// The runtime's own memory: a bump allocator over a fixed address range, so that it never
// moves what the program maps. Nothing is given back; callers keep free lists.
#ifndef CLEW_RUNTIME_ARENA_H_
#define CLEW_RUNTIME_ARENA_H_

#include <new>

#include "runtime/rt.h"

namespace clew::rt {

// The memory is zeroed and aligned to 64. Ends the run when the range is used up.
void* arena_alloc(std::size_t size);

// The range, and how far it is used.
inline constexpr std::uintptr_t kArenaAddress = 0x4100'0000'0000;
inline constexpr std::size_t kArenaSize = std::size_t{1} << 32;
std::uintptr_t arena_used_until();

template <class T>
T* arena_new() {
  return new (arena_alloc(sizeof(T))) T();
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_ARENA_H_
