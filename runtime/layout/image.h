// An ELF file, and how it is mapped.
#ifndef CLEW_RUNTIME_LAYOUT_IMAGE_H_
#define CLEW_RUNTIME_LAYOUT_IMAGE_H_

#include <elf.h>

#include "runtime/layout/steps.h"
#include "runtime/rt.h"

namespace clew::rt {

inline constexpr std::uintptr_t kPageSize = 4096;
constexpr std::uintptr_t page_down(std::uintptr_t address) { return address & ~(kPageSize - 1); }
constexpr std::uintptr_t page_up(std::uintptr_t address) {
  return page_down(address + kPageSize - 1);
}

struct Image {
  static constexpr int kMostSegments = 32;
  long fd = -1;
  Elf64_Ehdr header{};
  Elf64_Phdr segments[kMostSegments]{};
  // What is added to the addresses in the file: 0 if the file says where it is loaded.
  std::uintptr_t bias = 0;

  // False: it cannot be read, or is none. The file stays open.
  bool open(const char* path);
  void close();

  bool can_be_moved() const { return header.e_type == ET_DYN; }
  const Elf64_Phdr* find(std::uint32_t type) const;
  // Addresses in the file.
  std::uintptr_t begin() const;
  std::uintptr_t end() const;  // not rounded
  std::uintptr_t alignment() const;
  int loaded() const;  // segments

  // Adds what maps it, with its bias: at most three steps for each loaded segment. REQUIRES: nothing
  // is mapped there.
  void map(Steps& steps) const;
};

// One more step. REQUIRES: there is room.
void add_step(Steps& steps, long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
              long f = 0);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LAYOUT_IMAGE_H_
