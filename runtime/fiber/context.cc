#include "runtime/fiber/context.h"

#include <sys/auxv.h>

extern "C" {
// Read by the assembly.
unsigned char clew_has_wrfsbase = 0;
}

namespace clew::rt {

void init_context() {
  constexpr unsigned long kFsGsBase = 1ul << 1;
  clew_has_wrfsbase = (getauxval(AT_HWCAP2) & kFsGsBase) != 0;
}

std::uintptr_t current_thread_pointer() {
  std::uintptr_t base;
  asm("movq %%fs:0x10, %0" : "=r"(base));
  return base;
}

ParkedFrame parked_frame(const Context& context) {
  const auto* stack = reinterpret_cast<const std::uintptr_t*>(context.stack_pointer);
  return {stack[7], context.stack_pointer + 8 * sizeof(std::uintptr_t), stack[6]};
}

}  // namespace clew::rt
