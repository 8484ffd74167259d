#include "runtime/libc/redirect.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "runtime/libc/real.h"
#include "runtime/raw_syscall.h"

// The stub, which goes to the runtime's own stack (libc/interposed.def).
extern "C" ssize_t clew_write_of_libc(int fd, const void* buffer, size_t size);

namespace clew::rt {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kJump = 14;

bool set_protection(std::uintptr_t begin, std::uintptr_t end, int protection) {
  return raw_syscall(SYS_mprotect, static_cast<long>(begin), static_cast<long>(end - begin),
                     protection) == 0;
}

}  // namespace

void redirect_write() {
  auto* code = reinterpret_cast<unsigned char*>(CLEW_REAL(write));
  const auto to = reinterpret_cast<std::uintptr_t>(&clew_write_of_libc);
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  const std::uintptr_t begin = address & ~(kPage - 1);
  const std::uintptr_t end = (address + kJump + kPage - 1) & ~(kPage - 1);
  if (!set_protection(begin, end, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  // jmp *0(%rip), and where to.
  constexpr unsigned char kInstruction[] = {0xff, 0x25, 0, 0, 0, 0};
  memcpy(code, kInstruction, sizeof kInstruction);
  memcpy(code + sizeof kInstruction, &to, sizeof to);
  set_protection(begin, end, PROT_READ | PROT_EXEC);
}

}  // namespace clew::rt
