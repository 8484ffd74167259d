#include "runtime/arena.h"

#include <sys/mman.h>

namespace clew::rt {
namespace {
constexpr std::uintptr_t kAddress = 0x4100'0000'0000;
constexpr std::size_t kSize = std::size_t{1} << 32;
std::uintptr_t g_next = 0;
}  // namespace

void* arena_alloc(std::size_t size) {
  if (g_next == 0) {
    void* got = ::mmap(reinterpret_cast<void*>(kAddress), kSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    CLEW_CHECK(got == reinterpret_cast<void*>(kAddress));
    g_next = kAddress;
  }
  const std::uintptr_t result = g_next;
  g_next += (size + 63) & ~std::size_t{63};
  CLEW_CHECK(g_next <= kAddress + kSize);
  return reinterpret_cast<void*>(result);
}

}  // namespace clew::rt
