#include "runtime/thread/names.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/record/log.h"

namespace clew::rt {

void set_thread_name(Fiber& fiber, const char* name) {
  const size_t length = strnlen(name, sizeof fiber.name - 1);
  memcpy(fiber.name, name, length);
  fiber.name[length] = '\0';
  // The kernel thread has the name of the first thread, which is the name of the process in /proc.
  if (fiber.index == 0)
    raw_syscall(SYS_prctl, PR_SET_NAME, reinterpret_cast<long>(fiber.name), 0, 0, 0);
  Payload payload;
  payload.number(fiber.index).text(fiber.name);
  g_log.message(abi::MessageType::kName, payload);
}

void get_thread_name(const Fiber& fiber, char* out) {
  const char* known = fiber.name[0] != '\0' ? fiber.name : program_invocation_short_name;
  const size_t length = strnlen(known, sizeof fiber.name - 1);
  memcpy(out, known, length);
  out[length] = '\0';
}

}  // namespace clew::rt
