#include "runtime/fiber/context.h"

#include <cpuid.h>
#include <sys/auxv.h>

extern "C" {
// Read by the assembly.
unsigned char clew_has_wrfsbase = 0;
unsigned char clew_has_avx512 = 0;  // usable: the kernel saves its registers
}

namespace clew::rt {
namespace {

// With the short forms of its instructions (AVX512VL), which are all that is used.
bool has_avx512() {
  constexpr std::uint32_t kSavedByKernel = 0xe6;  // SSE, AVX, masks and both halves of AVX-512
  constexpr std::uint32_t kOsxsave = 1u << 27;
  constexpr std::uint32_t kFoundation = 1u << 16;
  constexpr std::uint32_t kShortForms = 1u << 31;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsxsave) == 0) return false;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & kSavedByKernel) != kSavedByKernel) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  return (b & kFoundation) != 0 && (b & kShortForms) != 0;
}

}  // namespace

void init_context() {
  constexpr unsigned long kFsGsBase = 1ul << 1;
  clew_has_wrfsbase = (getauxval(AT_HWCAP2) & kFsGsBase) != 0;
  clew_has_avx512 = has_avx512();
}

std::uintptr_t current_thread_pointer() {
  std::uintptr_t base;
  asm("movq %%fs:0x10, %0" : "=r"(base));
  return base;
}

void init_parked_context(Context& context, void* stack_end, void (*entry)()) {
  constexpr std::uint64_t kControlWords = 0x37full << 32 | 0x1f80;  // as a new process has them
  auto* frame = reinterpret_cast<std::uint64_t*>(
                    (reinterpret_cast<std::uintptr_t>(stack_end) - 64) & ~std::uintptr_t{15}) -
                7;
  for (int i = 1; i < 7; ++i) frame[i] = 0;
  frame[0] = kControlWords;
  frame[7] = reinterpret_cast<std::uintptr_t>(entry);
  context = {reinterpret_cast<std::uintptr_t>(frame), current_thread_pointer()};
}

void inherit_floating_point(const Context& parked) {
  struct Saved {  // save_fp
    std::uint32_t sse;
    std::uint16_t control, status;
  };
  auto& saved = *reinterpret_cast<Saved*>(parked.stack_pointer);
  asm volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2"
               : "=m"(saved.sse), "=m"(saved.control), "=m"(saved.status));
}

ParkedFrame parked_frame(const Context& context) {
  const auto* stack = reinterpret_cast<const std::uintptr_t*>(context.stack_pointer);
  return {.instruction = stack[7],
          .stack = context.stack_pointer + 8 * sizeof(std::uintptr_t),
          .frame = stack[6],
          .rbx = stack[5],
          .r12 = stack[4],
          .r13 = stack[3],
          .r14 = stack[2],
          .r15 = stack[1]};
}

}  // namespace clew::rt
