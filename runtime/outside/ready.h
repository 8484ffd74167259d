// Asking the kernel which descriptors are ready.
#ifndef CLEW_RUNTIME_OUTSIDE_READY_H_
#define CLEW_RUNTIME_OUTSIDE_READY_H_

#include <poll.h>
#include <time.h>

#include "runtime/rt.h"

namespace clew::rt {

// Sets what each is ready for. Waits until one is, or the timeout, and lets signals in meanwhile if
// `lets_in` says so. poll() refuses more descriptors than RLIMIT_NOFILE has room for, even if they
// are open: then select() is used.
enum class LetsIn : std::uint8_t { kNothing, kSignals };
void find_ready(pollfd* fds, std::size_t count, const timespec& timeout, LetsIn lets_in);

bool is_ready(int fd, short events);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_READY_H_
