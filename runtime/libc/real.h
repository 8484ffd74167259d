// The functions behind the interposed ones.
#ifndef CLEW_RUNTIME_LIBC_REAL_H_
#define CLEW_RUNTIME_LIBC_REAL_H_

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

// What longjmp and siglongjmp are in a fortified program.
extern "C" void __longjmp_chk(__jmp_buf_tag* target, int value) noexcept;

namespace clew::rt::real {

#define CLEW_REAL_FUNCTION(name) extern decltype(&::name) name;
#include "runtime/libc/real.def"

extern bool g_resolved;
// Looks all of them up. CLEW_REAL does so if need be: interposed functions may be called before any
// constructor of the runtime.
void resolve();

}  // namespace clew::rt::real

#define CLEW_REAL(name)                                                                         \
  ((__builtin_expect(::clew::rt::real::g_resolved, 1) ? (void)0 : ::clew::rt::real::resolve()), \
   ::clew::rt::real::name)

#endif  // CLEW_RUNTIME_LIBC_REAL_H_
