#include "runtime/layout/places.h"

#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

// What the kernel maps of a stack at first; it grows.
constexpr std::size_t kStackRoom = std::size_t{128} << 10;

}  // namespace

std::uintptr_t probe() {
  const long got =
      raw_syscall(SYS_mmap, 0, kPageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got < 0 && got > -4096) return 0;
  raw_syscall(SYS_munmap, got, kPageSize);
  return static_cast<std::uintptr_t>(got);
}

void place(Image& program, Image& loader) {
  if (program.can_be_moved())
    program.bias = (kProgram & ~(program.alignment() - 1)) - program.begin();
  const std::uintptr_t begin = kDownwards - page_up(loader.end() - loader.begin());
  loader.bias = (begin & ~(loader.alignment() - 1)) - loader.begin();
}

bool tell_kernel(const Image& program, const FirstStack& stack, const char* vector) {
  prctl_mm_map map{};
  map.start_code = map.start_data = ~0ull;
  for (int i = 0; i < program.header.e_phnum; ++i) {
    const Elf64_Phdr& segment = program.segments[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t begin = program.bias + segment.p_vaddr;
    const std::uint64_t end = begin + segment.p_filesz;
    if ((segment.p_flags & PF_X) != 0) {
      if (begin < map.start_code) map.start_code = begin;
      if (end > map.end_code) map.end_code = end;
    }
    map.start_data = begin;
    if (end > map.end_data) map.end_data = end;
  }
  map.start_brk = map.brk = page_up(program.bias + program.end());
  map.start_stack = stack.pointer;
  map.arg_start = stack.arguments;
  map.arg_end = map.env_start = stack.arguments_end;
  map.env_end = stack.environment_end;
  map.auxv = reinterpret_cast<__u64*>(const_cast<char*>(vector));
  map.auxv_size = static_cast<__u32>(stack.vector_size);
  map.exe_fd = ~0u;
  return raw_syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, to_long(&map), sizeof map) == 0;
}

void reserve(Steps& steps, std::uintptr_t begin, std::uintptr_t end) {
  add_step(steps, SYS_mmap, to_long(begin), to_long(end - begin), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void add_stack(Steps& steps, const Image& program, const char* image, std::size_t size) {
  const Elf64_Phdr* const stack = program.find(PT_GNU_STACK);
  const bool runs_code = stack != nullptr && (stack->p_flags & PF_X) != 0;
  const std::size_t room = size + kStackRoom;
  add_step(steps, SYS_mmap, to_long(kStackEnd - room), to_long(room),
           PROT_READ | PROT_WRITE | (runs_code ? PROT_EXEC : 0),
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN | MAP_STACK, -1, 0);
  add_step(steps, kStepCopy, to_long(kStackEnd - size), to_long(image), to_long(size));
}

void add_image(Steps& steps, const Image& image) {
  image.map(steps);
  add_step(steps, SYS_close, image.fd);
}

}  // namespace clew::rt
