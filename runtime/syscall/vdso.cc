#include "runtime/syscall/vdso.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/rt.h"

namespace clew::rt {
namespace {

struct Replacement {
  const char* name;
  std::uint32_t call;
};
constexpr Replacement kReplacements[] = {{"__vdso_clock_gettime", SYS_clock_gettime},
                                         {"__vdso_gettimeofday", SYS_gettimeofday},
                                         {"__vdso_time", SYS_time},
                                         {"__vdso_getcpu", SYS_getcpu}};

// mov $call, %eax; syscall; ret
void write_call(unsigned char* code, std::uint32_t call) {
  code[0] = 0xb8;
  memcpy(code + 1, &call, sizeof call);
  code[5] = 0x0f;
  code[6] = 0x05;
  code[7] = 0xc3;
}

struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  std::uint32_t count = 0;
};

Symbols symbols_of(std::uintptr_t base, const ElfW(Phdr) * segments, int count) {
  Symbols symbols;
  for (int i = 0; i < count; ++i) {
    if (segments[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + segments[i].p_offset);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const std::uintptr_t address = base + entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) symbols.table = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) symbols.names = reinterpret_cast<const char*>(address);
    }
  }
  // The names follow the symbols.
  if (symbols.table != nullptr && symbols.names > reinterpret_cast<const char*>(symbols.table))
    symbols.count = static_cast<std::uint32_t>(
        (symbols.names - reinterpret_cast<const char*>(symbols.table)) / sizeof(ElfW(Sym)));
  return symbols;
}

}  // namespace

void make_vdso_call_kernel() {
  const std::uintptr_t base = getauxval(AT_SYSINFO_EHDR);
  if (base == 0) return;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  std::size_t size = 0;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD) size = segments[i].p_memsz;
  const Symbols symbols = symbols_of(base, segments, header->e_phnum);
  if (symbols.count == 0 ||
      raw_syscall(SYS_mprotect, static_cast<long>(base), static_cast<long>(size),
                  PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return;
  for (std::uint32_t i = 0; i < symbols.count; ++i) {
    const ElfW(Sym)& symbol = symbols.table[i];
    constexpr std::size_t kLength = 8;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value + kLength > size) continue;
    for (const Replacement& each : kReplacements)
      if (strcmp(symbols.names + symbol.st_name, each.name) == 0)
        write_call(reinterpret_cast<unsigned char*>(base + symbol.st_value), each.call);
  }
  raw_syscall(SYS_mprotect, static_cast<long>(base), static_cast<long>(size),
              PROT_READ | PROT_EXEC);
}

}  // namespace clew::rt
