// fork, as a yield point: the copy has the memory that other threads were about to change, and
// locks that they hold, which are never released there. The copying itself is a system call
// (syscall/process_calls.cc).
#include <unistd.h>

#include "runtime/intercept/call.h"
#include "runtime/outside/children.h"
#include "runtime/thread/thread_block.h"

using namespace clew::rt;

CLEW_EXPORT pid_t fork() noexcept {
  CLEW_ENTER_WITH(kOutside, fork);
  const bool was_entered = is_entered_child();
  const pid_t pid = CLEW_REAL(fork)();
  if (pid == 0 && is_entered_child() && !was_entered) renew_pool();
  return pid;
}

CLEW_EXPORT pid_t _Fork() noexcept {
  CLEW_ENTER_WITH(kOutside, _Fork);
  return CLEW_REAL(_Fork)();
}
