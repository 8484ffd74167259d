#include "runtime/arena.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {
std::uintptr_t g_next = 0;

[[noreturn]] void no_room() {
  static constexpr char kText[] =
      "clew runtime: the program may not have the 4 GiB of address space that clew needs beside it "
      "(ulimit -v)\n";
  static_assert(kArenaSize == std::size_t{4} << 30);
  raw_syscall(SYS_write, 2, reinterpret_cast<long>(kText), sizeof kText - 1);
  raw_syscall(SYS_exit_group, 126);
  __builtin_unreachable();
}
}  // namespace

void* arena_alloc(std::size_t size) {
  if (g_next == 0) {
    void* got = ::mmap(reinterpret_cast<void*>(kArenaAddress), kArenaSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) no_room();
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
