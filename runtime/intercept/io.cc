// Reading and writing pass through, as long as they cannot block on another thread of
// the same program: that would stop all of them.
#include <sys/stat.h>

#include "runtime/intercept/call.h"
#include "runtime/record/end.h"

using namespace clew::rt;

namespace {

// The standard streams, and what was opened as /dev/stdout and the like, lead to clew itself.
bool may_wait_for_a_thread(int fd) {
  struct stat status;
  if (fd <= 2 || fstat(fd, &status) != 0) return false;
  if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) return false;
  for (int standard = 0; standard <= 2; ++standard) {
    struct stat other;
    if (fstat(standard, &other) == 0 && other.st_dev == status.st_dev &&
        other.st_ino == status.st_ino)
      return false;
  }
  return true;
}

}  // namespace

CLEW_EXPORT ssize_t read(int fd, void* buffer, size_t size) {
  if (g_sched.active && may_wait_for_a_thread(fd)) end_unsupported("read() from a pipe or socket");
  return CLEW_REAL(read)(fd, buffer, size);
}

CLEW_EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  if (g_sched.active && may_wait_for_a_thread(fd)) end_unsupported("readv() from a pipe or socket");
  return CLEW_REAL(readv)(fd, parts, count);
}

CLEW_EXPORT ssize_t write(int fd, const void* buffer, size_t size) {
  if (g_sched.active && may_wait_for_a_thread(fd)) end_unsupported("write() to a pipe or socket");
  return CLEW_REAL(write)(fd, buffer, size);
}

CLEW_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  if (g_sched.active && may_wait_for_a_thread(fd)) end_unsupported("writev() to a pipe or socket");
  return CLEW_REAL(writev)(fd, parts, count);
}

// The dynamic linker's lock is libc's own; a constructor of the library must not be preempted
// while it is held.
CLEW_EXPORT void* dlopen(const char* file, int mode) {
  if (!g_sched.active) return CLEW_REAL(dlopen)(file, mode);
  g_sched.enter_no_yield();
  void* handle = CLEW_REAL(dlopen)(file, mode);
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
