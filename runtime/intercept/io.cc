// Input and output: a yield point, then the system call (syscall/system_call.h).
#include <asm/ioctls.h>
#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/fiber/call_from.h"
#include "runtime/intercept/call.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/raw_syscall.h"
#include "runtime/signal/stuck.h"
#include "runtime/syscall/system_call.h"

using namespace clew::rt;

char clew_outside;

namespace {

template <class... Arguments>
long call_out(std::uint64_t op, const void* caller, long number, Arguments... arguments) {
  enter(op, caller, kOutside);
  return with_errno(system_call(number, arguments...));
}

}  // namespace

#define CLEW_OUT(name, ...)                                    \
  if (!g_sched.active) return CLEW_REAL(name)(CLEW_ARGUMENTS); \
  constexpr std::uint64_t clew_op = operation(#name);          \
  return static_cast<decltype(name(CLEW_ARGUMENTS))>(call_out(clew_op, CLEW_CALLER, __VA_ARGS__))

#define CLEW_ARGUMENTS fd, buffer, size
CLEW_INTERPOSE ssize_t read(int fd, void* buffer, size_t size) {
  CLEW_OUT(read, SYS_read, fd, buffer, size);
}
CLEW_INTERPOSE ssize_t write(int fd, const void* buffer, size_t size) {
  CLEW_OUT(write, SYS_write, fd, buffer, size);
}
#undef CLEW_ARGUMENTS

// No yield point, as it is none when libc asks. Test frameworks ask for every colour that they do not
// print, and catching a system call costs microseconds.
CLEW_INTERPOSE int isatty(int fd) noexcept {
  if (!g_sched.active) return CLEW_REAL(isatty)(fd);
  *g_sched.current->call_site = nullptr;
  char attributes[128];  // the kernel's struct termios has 36 bytes, its successor 44
  return with_errno(system_call(SYS_ioctl, fd, TCGETS, attributes)) == 0 ? 1 : 0;
}

// No yield point, as it is none when the call is caught (libc/redirect.h).
CLEW_INTERPOSE ssize_t clew_write_of_libc(int fd, const void* buffer, size_t size) {
  if (!g_sched.active || !calls_are_caught())
    return with_errno(
        raw_syscall(SYS_write, fd, reinterpret_cast<long>(buffer), static_cast<long>(size)));
  return with_errno(system_call(SYS_write, fd, buffer, size));
}

#define CLEW_ARGUMENTS fd, parts, count
CLEW_INTERPOSE ssize_t readv(int fd, const iovec* parts, int count) {
  CLEW_OUT(readv, SYS_readv, fd, parts, count);
}
CLEW_INTERPOSE ssize_t writev(int fd, const iovec* parts, int count) {
  CLEW_OUT(writev, SYS_writev, fd, parts, count);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, buffer, size, at
CLEW_INTERPOSE ssize_t pread(int fd, void* buffer, size_t size, off_t at) {
  CLEW_OUT(pread, SYS_pread64, fd, buffer, size, at);
}
CLEW_INTERPOSE ssize_t pread64(int fd, void* buffer, size_t size, off64_t at) {
  CLEW_OUT(pread64, SYS_pread64, fd, buffer, size, at);
}
CLEW_INTERPOSE ssize_t pwrite(int fd, const void* buffer, size_t size, off_t at) {
  CLEW_OUT(pwrite, SYS_pwrite64, fd, buffer, size, at);
}
CLEW_INTERPOSE ssize_t pwrite64(int fd, const void* buffer, size_t size, off64_t at) {
  CLEW_OUT(pwrite64, SYS_pwrite64, fd, buffer, size, at);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, buffer, size, flags
CLEW_INTERPOSE ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  CLEW_OUT(recv, SYS_recvfrom, fd, buffer, size, flags, 0, 0);
}
CLEW_INTERPOSE ssize_t send(int fd, const void* buffer, size_t size, int flags) {
  CLEW_OUT(send, SYS_sendto, fd, buffer, size, flags, 0, 0);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, buffer, size, flags, address, length
CLEW_INTERPOSE ssize_t recvfrom(int fd, void* buffer, size_t size, int flags, sockaddr* address,
                                socklen_t* length) {
  CLEW_OUT(recvfrom, SYS_recvfrom, fd, buffer, size, flags, address, length);
}
CLEW_INTERPOSE ssize_t sendto(int fd, const void* buffer, size_t size, int flags,
                              const sockaddr* address, socklen_t length) {
  CLEW_OUT(sendto, SYS_sendto, fd, buffer, size, flags, address, length);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, message, flags
CLEW_INTERPOSE ssize_t recvmsg(int fd, msghdr* message, int flags) {
  CLEW_OUT(recvmsg, SYS_recvmsg, fd, message, flags);
}
CLEW_INTERPOSE ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  CLEW_OUT(sendmsg, SYS_sendmsg, fd, message, flags);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, address, length
CLEW_INTERPOSE int accept(int fd, sockaddr* address, socklen_t* length) {
  CLEW_OUT(accept, SYS_accept, fd, address, length);
}
CLEW_INTERPOSE int connect(int fd, const sockaddr* address, socklen_t length) {
  CLEW_OUT(connect, SYS_connect, fd, address, length);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, address, length, flags
CLEW_INTERPOSE int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  CLEW_OUT(accept4, SYS_accept4, fd, address, length, flags);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fds, count, timeout
CLEW_INTERPOSE int poll(pollfd* fds, nfds_t count, int timeout) {
  CLEW_OUT(poll, SYS_poll, fds, count, timeout);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, events, most, timeout
CLEW_INTERPOSE int epoll_wait(int fd, epoll_event* events, int most, int timeout) {
  CLEW_OUT(epoll_wait, SYS_epoll_wait, fd, events, most, timeout);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS count, in, out, except, timeout
CLEW_INTERPOSE int select(int count, fd_set* in, fd_set* out, fd_set* except, timeval* timeout) {
  CLEW_OUT(select, SYS_select, count, in, out, except, timeout);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd, how
CLEW_INTERPOSE int flock(int fd, int how) noexcept { CLEW_OUT(flock, SYS_flock, fd, how); }
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS set, operations, count
CLEW_INTERPOSE int semop(int set, sembuf* operations, size_t count) noexcept {
  CLEW_OUT(semop, SYS_semop, set, operations, count);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS set, operations, count, timeout
CLEW_INTERPOSE int semtimedop(int set, sembuf* operations, size_t count,
                              const timespec* timeout) noexcept {
  CLEW_OUT(semtimedop, SYS_semtimedop, set, operations, count, timeout);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS queue, message, size, flags
CLEW_INTERPOSE int msgsnd(int queue, const void* message, size_t size, int flags) {
  CLEW_OUT(msgsnd, SYS_msgsnd, queue, message, size, flags);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS queue, message, size, type, flags
CLEW_INTERPOSE ssize_t msgrcv(int queue, void* message, size_t size, long type, int flags) {
  CLEW_OUT(msgrcv, SYS_msgrcv, queue, message, size, type, flags);
}
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS fd
CLEW_INTERPOSE int close(int fd) { CLEW_OUT(close, SYS_close, fd); }
#undef CLEW_ARGUMENTS

#define CLEW_ARGUMENTS pid, status, options
CLEW_INTERPOSE pid_t waitpid(pid_t pid, int* status, int options) {
  CLEW_OUT(waitpid, SYS_wait4, pid, status, options, 0);
}
#undef CLEW_ARGUMENTS

namespace {

// A return instruction of the module that has the code at `code`; null: none.
const void* return_instruction_near(const void* code) {
  Dl_info object;
  if (dladdr(code, &object) == 0) return nullptr;
  const auto base = reinterpret_cast<std::uintptr_t>(object.dli_fbase);
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  const auto at = reinterpret_cast<std::uintptr_t>(code);
  const std::uintptr_t bias = header->e_type == ET_DYN ? base : 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    const std::uintptr_t begin = bias + segments[i].p_vaddr;
    if (segments[i].p_type != PT_LOAD || (segments[i].p_flags & PF_X) == 0 || at < begin ||
        at >= begin + segments[i].p_filesz)
      continue;
    constexpr int kReturn = 0xc3;
    return memchr(code, kReturn, begin + segments[i].p_filesz - at);
  }
  return nullptr;
}

// The dynamic linker looks for a name without a slash where the module says from which it is called
// (RUNPATH), and $ORIGIN is that module's folder. It is told by its return address.
void* open_library(const char* file, int mode, const void* caller) {
  const bool depends =
      file != nullptr && (strchr(file, '/') == nullptr || strchr(file, '$') != nullptr);
  const void* const from = depends ? return_instruction_near(caller) : nullptr;
  if (from == nullptr) return CLEW_REAL(dlopen)(file, mode);
  return clew_call_from(from, reinterpret_cast<void*>(CLEW_REAL(dlopen)),
                        reinterpret_cast<long>(file), mode);
}

}  // namespace

// The dynamic linker's lock is not modelled; a constructor of the library must not be preempted
// while it is held.
CLEW_EXPORT void* dlopen(const char* file, int mode) {
  if (!g_sched.active) return CLEW_REAL(dlopen)(file, mode);  // a jump: it sees the caller
  g_sched.enter_no_yield();
  void* handle = open_library(file, mode, __builtin_return_address(0));
  note_loaded_code();
  look_for_uncovered_code();
  g_sched.leave_no_yield();
  return handle;
}

CLEW_EXPORT int dlclose(void* handle) {
  if (!g_sched.active) return CLEW_REAL(dlclose)(handle);
  g_sched.enter_no_yield();
  const int result = CLEW_REAL(dlclose)(handle);
  g_sched.leave_no_yield();
  return result;
}
