#include "runtime/rt.h"

#include <stdio.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {

void check_failed(const char* what, const char* file, int line) {
  char text[512];
  const int n = snprintf(text, sizeof text, "clew runtime: internal check failed: %s (%s:%d)\n",
                         what, file, line);
  raw_syscall(SYS_write, 2, reinterpret_cast<long>(text), n);
  raw_syscall(SYS_exit_group, 126);
  __builtin_unreachable();
}

}  // namespace clew::rt
