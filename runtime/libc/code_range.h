// Where code lies.
#ifndef CLEW_RUNTIME_LIBC_CODE_RANGE_H_
#define CLEW_RUNTIME_LIBC_CODE_RANGE_H_

#include <link.h>

#include <cstdint>

namespace clew::rt {

struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool has(std::uintptr_t address) const { return address >= begin && address < end; }
};

// All segments of the object that begins with the ELF header at `base`.
inline CodeRange range_of_object(std::uintptr_t base) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  CodeRange range{base, base};
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD) continue;
    const std::uintptr_t end = base + segments[i].p_vaddr + segments[i].p_memsz;
    if (end > range.end) range.end = end;
  }
  return range;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LIBC_CODE_RANGE_H_
