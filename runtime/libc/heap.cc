#include "runtime/libc/heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/raw_syscall.h"
#include "runtime/rt.h"

namespace clew::rt {
namespace {

// The allocator's own function; null: glibc's, or nobody's that is known.
std::size_t (*g_size_of)(const void*) = nullptr;
int (*g_is_allocated)(const void*) = nullptr;  // of a sanitizer
bool g_is_glibc = false;

template <class F>
F lookup(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

const void* module_of(const void* code) {
  Dl_info info{};
  return dladdr(code, &info) != 0 ? info.dli_fbase : nullptr;
}

constexpr std::uintptr_t kPage = 4096;
// Pages that have been read. Those of the heap stay as long as the heap reaches beyond them.
constexpr std::size_t kPagesKnown = 64;
std::uintptr_t g_pages_known[kPagesKnown];

// Not by memcpy, which a sanitizer may have replaced: it would not like what is read.
void copy_plainly(std::uintptr_t address, void* into, std::size_t size) {
  const auto* from = reinterpret_cast<const volatile char*>(address);
  for (std::size_t i = 0; i < size; ++i) static_cast<char*>(into)[i] = from[i];
}

// The kernel reads a set of signals there before it refuses to do anything with it.
// REQUIRES: no page ends within [address, address + size).
bool can_be_read(std::uintptr_t address, std::size_t size) {
  constexpr long kNoSuchAction = -1;
  constexpr std::size_t kSetSize = 8;
  const std::uintptr_t end = address + size;
  const std::uintptr_t first = address & ~(kSetSize - 1);
  return end > address && raw_syscall(SYS_rt_sigprocmask, kNoSuchAction, static_cast<long>(first),
                                      0, kSetSize) == -EINVAL;
}

}  // namespace

bool read_if_there(std::uintptr_t address, void* into, std::size_t size) {
  const std::uintptr_t page = address / kPage;
  std::uintptr_t& known = g_pages_known[page % kPagesKnown];
  if (page != 0 && known == page && address < reinterpret_cast<std::uintptr_t>(sbrk(0))) {
    copy_plainly(address, into, size);
    return true;
  }
  const iovec local{into, size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  const long got =
      raw_syscall(SYS_process_vm_readv, raw_syscall(SYS_getpid), reinterpret_cast<long>(&local), 1,
                  reinterpret_cast<long>(&remote), 1, 0);
  bool is_read = got == static_cast<long>(size);
  if (got == -EPERM || got == -ENOSYS) {  // containers without CAP_SYS_PTRACE
    is_read = can_be_read(address, size);
    if (is_read) copy_plainly(address, into, size);
  }
  if (is_read) known = page;
  return is_read;
}

namespace {

// glibc keeps the size in front of the memory; its own function would go on to read what lies
// behind, which need not be there if the memory was freed before.
std::size_t size_in_glibc(const void* memory) {
  constexpr std::uintptr_t kAlignment = 2 * sizeof(std::size_t);
  constexpr std::size_t kFlags = 7;
  constexpr std::size_t kMapped = 2;
  constexpr std::size_t kMost = std::size_t{1} << 40;  // more is no size
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::size_t header = 0;
  if (address % kAlignment != 0 || !read_if_there(address - sizeof header, &header, sizeof header))
    return 0;
  const std::size_t size = header & ~kFlags;
  const std::size_t own = (header & kMapped) != 0 ? 2 * sizeof header : sizeof header;
  return size > own && size < kMost ? size - own : 0;
}

}  // namespace

void find_allocator() {
  g_is_allocated = lookup<int (*)(const void*)>("__sanitizer_get_ownership");
  g_size_of = lookup<std::size_t (*)(const void*)>("__sanitizer_get_allocated_size");
  if (g_is_allocated != nullptr && g_size_of != nullptr) return;
  g_is_allocated = nullptr;
  g_size_of = nullptr;
  // Both from one place, or the size is of something else.
  void* const allocate = dlsym(RTLD_DEFAULT, "malloc");
  void* const size_of = dlsym(RTLD_DEFAULT, "malloc_usable_size");
  if (allocate == nullptr || size_of == nullptr || module_of(allocate) != module_of(size_of))
    return;
  g_is_glibc = module_of(allocate) == module_of(reinterpret_cast<const void*>(&mallopt));
  if (!g_is_glibc) g_size_of = reinterpret_cast<std::size_t (*)(const void*)>(size_of);
}

bool knows_allocator() { return g_is_glibc; }

std::size_t size_of_allocation(const void* memory) {
  if (memory == nullptr) return 0;
  if (g_is_glibc) return size_in_glibc(memory);
  if (g_size_of == nullptr) return 0;
  if (g_is_allocated != nullptr && g_is_allocated(memory) == 0) return 0;
  return g_size_of(memory);
}

std::uint64_t size_of_string(const char* string, std::uint64_t most) {
  constexpr std::uintptr_t kPiece = 256;  // no page ends within one
  char piece[kPiece];
  const auto begin = reinterpret_cast<std::uintptr_t>(string);
  for (std::uint64_t size = 0; size < most;) {
    const std::uintptr_t at = begin + size;
    const std::size_t length = kPiece - at % kPiece;
    if (!read_if_there(at, piece, length)) return size;
    for (std::size_t i = 0; i < length; ++i)
      if (++size; piece[i] == 0 || size == most) return size;
  }
  return most;
}

}  // namespace clew::rt
