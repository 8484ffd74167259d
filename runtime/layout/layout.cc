#include "runtime/layout/layout.h"

#include <asm/prctl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <initializer_list>

#include "runtime/layout/first_stack.h"
#include "runtime/layout/image.h"
#include "runtime/layout/places.h"
#include "runtime/layout/steps.h"
#include "runtime/raw_syscall.h"

// Of libc, since 2.35.
extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
}

namespace clew::rt {
namespace {

constexpr char kFailed[] =
    "clew: cannot take over the program: it could not be loaded where it always is\n";

bool is_limited() {
  rlimit limit{};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, to_long(&limit));
  return limit.rlim_cur != RLIM_INFINITY;
}

// The kernel would write to memory that is gone.
bool leave_restartable_sequences() {
  if (&__rseq_size == nullptr || __rseq_size == 0) return true;
  constexpr long kUnregister = 1;
  constexpr long kSignature = 0x53053053;
  std::uintptr_t thread;
  asm("movq %%fs:0, %0" : "=r"(thread));
  const long area = to_long(thread + static_cast<std::uintptr_t>(__rseq_offset));
  constexpr unsigned long kFeatureSize = 27;  // AT_RSEQ_FEATURE_SIZE
  const long rounded = static_cast<long>((getauxval(kFeatureSize) + 31) & ~31ul);
  for (const long size : {32l, static_cast<long>(__rseq_size), rounded})
    if (raw_syscall(SYS_rseq, area, size, kUnregister, kSignature) == 0) return true;
  return false;
}

// As the kernel has it.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  std::uint64_t mask;
};

void forget_signal_stack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  raw_syscall(SYS_sigaltstack, to_long(&none), 0);
}

// As after an exec: a sanitizer may have set itself up already.
void forget_signal_handlers() {
  KernelAction action;
  constexpr int kSignals = 64;
  for (int number = 1; number <= kSignals; ++number) {
    if (raw_syscall(SYS_rt_sigaction, number, 0, to_long(&action), sizeof action.mask) != 0 ||
        action.handler == nullptr || action.handler == reinterpret_cast<void*>(SIG_IGN))
      continue;
    action = {};
    raw_syscall(SYS_rt_sigaction, number, to_long(&action), 0, sizeof action.mask);
  }
  forget_signal_stack();
}

// Kernels can be configured so that nobody can unmap what they have mapped themselves.
bool is_vdso_sealed() {
  const unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
  return vdso != 0 &&
         raw_syscall(SYS_mprotect, static_cast<long>(vdso), kPageSize, PROT_READ | PROT_EXEC) != 0;
}

// The program, as it was loaded, and its dynamic linker.
struct Parts {
  Image program;
  Image loader;
  std::uintptr_t old_bias = 0;

  ~Parts() {
    program.close();
    loader.close();
  }
  const char* find();
};

const char* Parts::find() {
  if (getauxval(AT_BASE) == 0) return "it was started by its dynamic linker";
  const auto* started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (!program.open("/proc/self/exe") && (started_as == nullptr || !program.open(started_as)))
    return "its file cannot be read";
  const std::size_t size = program.header.e_phnum * sizeof(Elf64_Phdr);
  if (getauxval(AT_PHNUM) != program.header.e_phnum ||
      memcmp(reinterpret_cast<const void*>(getauxval(AT_PHDR)), program.segments, size) != 0)
    return "its file has changed";
  old_bias = getauxval(AT_ENTRY) - program.header.e_entry;
  const Elf64_Phdr* const interpreter = program.find(PT_INTERP);
  if (interpreter == nullptr ||
      !loader.open(reinterpret_cast<const char*>(old_bias + interpreter->p_vaddr)) ||
      !loader.can_be_moved())
    return "its dynamic linker cannot be read";
  constexpr int kOtherSteps = 16;
  if (3 * (program.loaded() + loader.loaded()) + kOtherSteps > static_cast<int>(Steps::kMost))
    return "it has too many segments";
  return nullptr;
}

// Code, steps and the stack as it will be, in the lowest part of what is reserved.
struct Block {
  static constexpr std::size_t kSteps = kPageSize;
  static constexpr std::size_t kImage = kSteps + 2 * kPageSize;
  static_assert(sizeof(Steps) <= 2 * kPageSize);
  std::size_t stack_size;

  bool map() const {
    if (raw_syscall(SYS_mmap, kDownwards, to_long(kImage + stack_size), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != kDownwards)
      return false;
    memcpy(reinterpret_cast<void*>(kDownwards), clew_steps_begin,
           static_cast<std::size_t>(clew_steps_end - clew_steps_begin));
    if (raw_syscall(SYS_mprotect, kDownwards, kPageSize, PROT_READ | PROT_EXEC) == 0) return true;
    unmap();
    return false;
  }
  void unmap() const { raw_syscall(SYS_munmap, kDownwards, to_long(kImage + stack_size)); }
  Steps& steps() const { return *reinterpret_cast<Steps*>(kDownwards + kSteps); }
  char* image() const { return reinterpret_cast<char*>(kDownwards + kImage); }
  std::uintptr_t end() const { return kDownwards + kImage + stack_size; }
};

void plan(Steps& steps, const Parts& parts, const Block& block, std::uintptr_t heap,
          bool has_heap) {
  // The program, its heap, what a sanitizer has mapped.
  add_step(steps, SYS_munmap, to_long(kLowest), to_long(kDownwards - kLowest));
  // Nothing can be added to a heap at an address that nobody knows: libc gets its memory elsewhere.
  if (!has_heap) reserve(steps, page_up(heap), page_up(heap) + kPageSize);
  reserve(steps, block.end(), kReservedEnd);
  if (goes_upwards(probe())) reserve(steps, kLowestUpwards, kUpwards);
  add_step(steps, SYS_munmap, to_long(kReservedEnd), to_long(kStackEnd - kReservedEnd));
  add_stack(steps, parts.program, block.image(), block.stack_size);
  for (const Image* image : {&parts.program, &parts.loader}) add_image(steps, *image);
  add_step(steps, SYS_arch_prctl, ARCH_SET_FS, 0);
  // All but the code.
  reserve(steps, kDownwards + Block::kSteps, block.end());
}

}  // namespace

bool is_loaded_again() { return getauxval(kMarkType) != 0; }

void leave_starter() {
  if ((getauxval(kMarkType) & kMarkedByStarter) == 0) return;
  constexpr long kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
  raw_syscall(SYS_prctl, kUserDispatch, 0, 0, 0, 0);
  KernelAction plain{};
  raw_syscall(SYS_rt_sigaction, SIGSYS, to_long(&plain), 0, sizeof plain.mask);
  stack_t handlers{};
  raw_syscall(SYS_sigaltstack, 0, to_long(&handlers));
  // A sanitizer may have set its own.
  if (reinterpret_cast<std::uintptr_t>(handlers.ss_sp) - kStarter < kReservedEnd - kStarter)
    forget_signal_stack();
  raw_syscall(SYS_mmap, to_long(kStarter), to_long(abi::kStartAddress - kStarter), PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

LoadedFiles loaded_files() {
  if ((getauxval(kMarkType) & kMarkedByStarter) == 0) return {};
  const auto* const header = reinterpret_cast<const abi::StartHeader*>(abi::kStartAddress);
  return {abi::StartTable(header), header->log};
}

const char* load_again(const StartOfStack& start) {
  if (is_limited()) return "its address space is limited (ulimit -v)";
  if (is_vdso_sealed()) return "the kernel's own mappings are sealed";
  Parts parts;
  if (const char* const problem = parts.find(); problem != nullptr) return problem;
  place(parts.program, parts.loader);
  const Block block{size_of_first_stack(start)};
  if (!block.map()) return "the addresses are in use, or no code may be written (SELinux)";
  NewPlaces places{};
  places.segments = getauxval(AT_PHDR) - parts.old_bias + parts.program.bias;
  places.segment_count = parts.program.header.e_phnum;
  places.entry = parts.program.bias + parts.program.header.e_entry;
  places.loader = parts.loader.bias;
  places.mark_type = kMarkType;
  places.mark = kMarked;
  FirstStack stack = write_first_stack(start, places, block.image(), block.stack_size, kStackEnd);
  const char* const vector = block.image() + block.stack_size - (kStackEnd - stack.vector);
  const auto heap = static_cast<std::uintptr_t>(raw_syscall(SYS_brk, 0));
  if (!leave_restartable_sequences()) {
    block.unmap();
    return "libc's restartable sequences cannot be left";
  }
  forget_signal_handlers();
  const bool has_heap = tell_kernel(parts.program, stack, vector);
  if (!has_heap) {
    places.mark |= kMarkedWithoutHeap;
    stack = write_first_stack(start, places, block.image(), block.stack_size, kStackEnd);
  }
  Steps& steps = block.steps();
  steps.stack = to_long(stack.pointer);
  steps.entry = to_long(parts.loader.bias + parts.loader.header.e_entry);
  memcpy(steps.message, kFailed, sizeof kFailed);
  steps.message_size = sizeof kFailed - 1;
  plan(steps, parts, block, heap, has_heap);
  reinterpret_cast<void (*)(Steps*)>(kDownwards)(&steps);
  __builtin_unreachable();
}

std::size_t reserved_size() {
  if (!is_loaded_again()) return 0;
  return kReservedEnd - kDownwards + (goes_upwards(probe()) ? kUpwards - kLowestUpwards : 0);
}

const char* why_addresses_move() {
  const std::uintptr_t probed = probe();
  constexpr std::uintptr_t kNear = std::uintptr_t{1} << 40;
  const bool is_upwards = probed >= kUpwards && probed < kUpwards + kNear;
  const bool is_downwards = probed < kDownwards && probed > kDownwards - kNear;
  if (!is_upwards && !is_downwards) return "the kernel maps memory at addresses of its own choice";
  if ((getauxval(kMarkType) & kMarkedWithoutHeap) != 0)
    return "this kernel cannot move the program break (sbrk)";
  return nullptr;
}

}  // namespace clew::rt
