#include "runtime/arena.h"

#include <sys/mman.h>

namespace clew::rt {
namespace {
std::uintptr_t g_next = 0;
}  // namespace

void* arena_alloc(std::size_t size) {
  if (g_next == 0) {
    void* got = ::mmap(reinterpret_cast<void*>(kArenaAddress), kArenaSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    CLEW_CHECK(got == reinterpret_cast<void*>(kArenaAddress));
    g_next = kArenaAddress;
  }
  const std::uintptr_t result = g_next;
  g_next += (size + 63) & ~std::size_t{63};
  CLEW_CHECK(g_next <= kArenaAddress + kArenaSize);
  return reinterpret_cast<void*>(result);
}

std::uintptr_t arena_used_until() { return g_next; }

}  // namespace clew::rt
