// The runtime's own memory: a bump allocator over a fixed address range, so that it never
// moves what the program maps. Nothing is given back; callers keep free lists.
#ifndef CLEW_RUNTIME_ARENA_H_
#define CLEW_RUNTIME_ARENA_H_

#include <new>

#include "runtime/rt.h"

namespace clew::rt {

// Zeroed, aligned to 64. Ends the run when the range is used up.
void* arena_alloc(std::size_t size);

template <class T>
T* arena_new() {
  return new (arena_alloc(sizeof(T))) T();
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_ARENA_H_
