// fork, as a yield point: the copy has the memory that other threads were about to change, and
// locks that they hold, which are never released there. The copying itself is a system call
// (syscall/process_calls.cc).
#include <unistd.h>

#include "runtime/intercept/call.h"

using namespace clew::rt;

CLEW_EXPORT pid_t fork() noexcept {
  CLEW_ENTER_WITH(kOutside, fork);
  return CLEW_REAL(fork)();
}

CLEW_EXPORT pid_t _Fork() noexcept {
  CLEW_ENTER_WITH(kOutside, _Fork);
  return CLEW_REAL(_Fork)();
}
