#include "runtime/intercept/heap_hooks.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/fiber/own_stack.h"
#include "runtime/libc/heap.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/stacks.h"
#include "runtime/sched/scheduler.h"

// Of the entries in fiber/own_stack_x86_64.S.
#define CLEW_HEAP_FUNCTIONS(X) \
  X(malloc, 1)                 \
  X(calloc, 2)                 \
  X(memalign, 3)               \
  X(aligned_alloc, 4)          \
  X(posix_memalign, 5)         \
  X(free, 8)                   \
  X(realloc, 9)                \
  X(reallocarray, 10)

extern "C" {
void clew_heap_before_realloc(const void* memory);
void clew_heap_before_free(const void* memory);
#define CLEW_HEAP(name, number) \
  void clew_heap_##name();      \
  void* clew_heap_real_##name = nullptr;
CLEW_HEAP_FUNCTIONS(CLEW_HEAP)
#undef CLEW_HEAP
}

namespace clew::rt {
namespace {

enum Function : std::uint64_t {
#define CLEW_HEAP(name, number) k_##name = number,
  CLEW_HEAP_FUNCTIONS(CLEW_HEAP)
#undef CLEW_HEAP
};

constexpr std::uintptr_t kPage = 4096;

struct Hook {
  const char* name;
  void* entry;
};

const Hook kHooks[] = {
#define CLEW_HEAP(name, number) {#name, reinterpret_cast<void*>(&clew_heap_##name)},
    CLEW_HEAP_FUNCTIONS(CLEW_HEAP)
#undef CLEW_HEAP
};

void* entry_for(const char* name) {
  for (const Hook& hook : kHooks)
    if (strcmp(name, hook.name) == 0) return hook.entry;
  return nullptr;
}

struct Dynamic {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const Elf64_Rela* tables[2] = {};
  std::size_t sizes[2] = {};
};

// libc has made the addresses in it absolute, but not those of the kernel's module, which has no
// tables.
Dynamic dynamic_of(const dl_phdr_info& module) {
  Dynamic found;
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    if (module.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const Elf64_Dyn*>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const std::uintptr_t address = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          found.symbols = reinterpret_cast<const Elf64_Sym*>(address);
          break;
        case DT_STRTAB:
          found.strings = reinterpret_cast<const char*>(address);
          break;
        case DT_JMPREL:
          found.tables[0] = reinterpret_cast<const Elf64_Rela*>(address);
          break;
        case DT_PLTRELSZ:
          found.sizes[0] = entry->d_un.d_val;
          break;
        case DT_RELA:
          found.tables[1] = reinterpret_cast<const Elf64_Rela*>(address);
          break;
        case DT_RELASZ:
          found.sizes[1] = entry->d_un.d_val;
          break;
        default:
          break;
      }
    }
  }
  return found;
}

bool is_read_only(const dl_phdr_info& module, std::uintptr_t address) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& part = module.dlpi_phdr[i];
    const std::uintptr_t begin = module.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_RELRO && address >= begin && address < begin + part.p_memsz)
      return true;
  }
  return false;
}

void bind(const dl_phdr_info& module, std::uintptr_t slot, void* entry) {
  auto* const binding = reinterpret_cast<void**>(slot);
  if (*binding == entry) return;
  const auto page = static_cast<long>(slot & ~(kPage - 1));
  const bool sealed = is_read_only(module, slot);
  if (sealed && raw_syscall(SYS_mprotect, page, kPage, PROT_READ | PROT_WRITE) != 0) return;
  *binding = entry;
  if (sealed) raw_syscall(SYS_mprotect, page, kPage, PROT_READ);
}

int hook_module(dl_phdr_info* module, std::size_t, void*) {
  const auto own = reinterpret_cast<std::uintptr_t>(&hook_heap);
  const Dynamic dynamic = dynamic_of(*module);
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr) return 0;
  if (reinterpret_cast<std::uintptr_t>(dynamic.symbols) < module->dlpi_addr) return 0;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& part = module->dlpi_phdr[i];
    const std::uintptr_t begin = module->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && own >= begin && own < begin + part.p_memsz) return 0;
  }
  for (int table = 0; table < 2; ++table) {
    const std::size_t count = dynamic.sizes[table] / sizeof(Elf64_Rela);
    for (std::size_t i = 0; dynamic.tables[table] != nullptr && i < count; ++i) {
      const Elf64_Rela& relocation = dynamic.tables[table][i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const Elf64_Sym& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
      void* const entry = entry_for(dynamic.strings + symbol.st_name);
      if (entry != nullptr) bind(*module, module->dlpi_addr + relocation.r_offset, entry);
    }
  }
  return 0;
}

std::size_t g_size_before = 0;  // of what is about to be reallocated

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

struct Block {
  void* address;
  std::uint64_t asked;
};

Block block_of(std::uint64_t result, std::uint64_t function, const std::uint64_t* arguments) {
  auto* const memory = reinterpret_cast<void*>(result);
  switch (function) {
    case k_malloc:
      return {memory, arguments[0]};
    case k_calloc:
      return {memory, times(arguments[0], arguments[1])};
    case k_memalign:
    case k_aligned_alloc:
    case k_realloc:
      return {memory, arguments[1]};
    case k_posix_memalign:
      if (static_cast<int>(result) != 0) return {};
      return {*reinterpret_cast<void**>(arguments[0]), arguments[2]};
    case k_reallocarray:
      return {memory, times(arguments[1], arguments[2])};
    default:
      return {};
  }
}

bool is_heard() {
  return g_sched.active && g_sched.current != nullptr && g_listeners.hears_of(kTopicMemory);
}

const void* calling_code() {
  return is_on_own_stack() ? reinterpret_cast<const void*>(entry().code) : nullptr;
}

}  // namespace

void hook_heap() {
#define CLEW_HEAP(name, number) \
  if (clew_heap_real_##name == nullptr) clew_heap_real_##name = dlsym(RTLD_DEFAULT, #name);
  CLEW_HEAP_FUNCTIONS(CLEW_HEAP)
#undef CLEW_HEAP
  dl_iterate_phdr(hook_module, nullptr);
}

}  // namespace clew::rt

extern "C" {

void clew_heap_done(std::uint64_t result, std::uint64_t function, std::uint64_t a, std::uint64_t b,
                    std::uint64_t c);

// Memory is about to be reallocated.
void clew_heap_before_realloc(const void* memory) {
  using namespace clew::rt;
  g_size_before = is_heard() ? size_of_allocation(memory) : 0;
}

// ... or freed.
void clew_heap_before_free(const void* memory) {
  using namespace clew::rt;
  if (is_heard() && memory != nullptr)
    g_sched.announce_memory(MemoryChange::Kind::kFreed, memory, size_of_allocation(memory),
                            calling_code());
}

// An allocation has returned. `a` to `c` are its arguments.
void clew_heap_done(std::uint64_t result, std::uint64_t function, std::uint64_t a, std::uint64_t b,
                    std::uint64_t c) {
  using namespace clew::rt;
  if (!is_heard()) return;
  const std::uint64_t arguments[] = {a, b, c};
  const Block block = block_of(result, function, arguments);
  const bool reallocates = function == k_realloc || function == k_reallocarray;
  const void* caller = calling_code();
  auto* const before = reinterpret_cast<void*>(a);
  if (reallocates && before != nullptr && (block.address != nullptr || block.asked == 0) &&
      block.address != before)
    g_sched.announce_memory(MemoryChange::Kind::kFreed, before, g_size_before, caller);
  if (block.address == nullptr) return;
  const std::uint64_t size = size_of_allocation(block.address);
  if (!reallocates || block.address != before)
    g_sched.announce_memory(MemoryChange::Kind::kAllocated, block.address,
                            size > block.asked ? size : block.asked, caller);
}
}
