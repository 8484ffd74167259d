#include "runtime/layout/image.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {

void add_step(Steps& steps, long number, long a, long b, long c, long d, long e, long f) {
  CLEW_CHECK(steps.count < static_cast<long>(Steps::kMost));
  steps.list[steps.count++] = {number, {a, b, c, d, e, f}, 0};
}

bool Image::open(const char* path) {
  fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto read = [&](void* into, std::size_t size, std::uint64_t from) {
    return raw_syscall(SYS_pread64, fd, reinterpret_cast<long>(into), static_cast<long>(size),
                       static_cast<long>(from)) == static_cast<long>(size);
  };
  const bool is_read = read(&header, sizeof header, 0) &&
                       memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                       header.e_ident[EI_CLASS] == ELFCLASS64 &&
                       (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
                       header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum > 0 &&
                       header.e_phnum <= kMostSegments &&
                       read(segments, header.e_phnum * sizeof(Elf64_Phdr), header.e_phoff) &&
                       find(PT_LOAD) != nullptr;
  if (!is_read) close();
  return is_read;
}

void Image::close() {
  if (fd >= 0) raw_syscall(SYS_close, fd);
  fd = -1;
}

const Elf64_Phdr* Image::find(std::uint32_t type) const {
  for (int i = 0; i < header.e_phnum; ++i)
    if (segments[i].p_type == type) return &segments[i];
  return nullptr;
}

std::uintptr_t Image::begin() const { return page_down(find(PT_LOAD)->p_vaddr); }

std::uintptr_t Image::end() const {
  std::uintptr_t last = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > last)
      last = segment.p_vaddr + segment.p_memsz;
  }
  return last;
}

std::uintptr_t Image::alignment() const {
  std::uintptr_t most = kPageSize;
  for (int i = 0; i < header.e_phnum; ++i) {
    const std::uintptr_t own = segments[i].p_align;
    if (segments[i].p_type == PT_LOAD && own > most && (own & (own - 1)) == 0) most = own;
  }
  return most;
}

int Image::loaded() const {
  int count = 0;
  for (int i = 0; i < header.e_phnum; ++i) count += segments[i].p_type == PT_LOAD ? 1 : 0;
  return count;
}

// As the kernel does it: what a file does not hold is zero, also in the last page that it holds.
void Image::map(Steps& steps) const {
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
    const int protection = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                           ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                           ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    const std::uintptr_t from = bias + segment.p_vaddr;
    const std::uintptr_t held_until = from + segment.p_filesz;
    const std::uintptr_t until = from + segment.p_memsz;
    const std::uintptr_t mapped_until =
        segment.p_filesz != 0 ? page_up(held_until) : page_down(from);
    if (segment.p_filesz != 0)
      add_step(steps, SYS_mmap, static_cast<long>(page_down(from)),
               static_cast<long>(mapped_until - page_down(from)), protection,
               MAP_PRIVATE | MAP_FIXED, fd, static_cast<long>(page_down(segment.p_offset)));
    if (until > held_until && mapped_until > held_until && (segment.p_flags & PF_W) != 0 &&
        segment.p_filesz != 0)
      add_step(steps, kStepZero, static_cast<long>(held_until),
               static_cast<long>(mapped_until - held_until));
    if (until > mapped_until)
      add_step(steps, SYS_mmap, static_cast<long>(mapped_until),
               static_cast<long>(page_up(until) - mapped_until), protection,
               MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
  }
}

}  // namespace clew::rt
