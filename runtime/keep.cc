#include "runtime/keep.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {

constinit void (*g_no_room_to_keep)() = nullptr;

void keep_init() {
  if (keep_ready) return;
  const long got =
      raw_syscall(SYS_mmap, static_cast<long>(kKeepAddress), static_cast<long>(kKeepSize),
                  PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != static_cast<long>(kKeepAddress)) {
    g_no_room_to_keep();
    __builtin_unreachable();
  }
  keep_ready = true;
  kept().next = kKeepAddress + 4096;
}

void* keep_alloc(std::size_t size) {
  const std::uint64_t result = kept().next;
  kept().next += (size + 4095) & ~std::size_t{4095};
  CLEW_CHECK(kept().next <= kKeepAddress + kKeepSize);
  return reinterpret_cast<void*>(result);
}

}  // namespace clew::rt
