#include "runtime/syscall/proc_threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

// Room for the text of stat or status: chosen, not measured. The number of the field: proc(5).
constexpr std::size_t kRoom = 8192;
constexpr int kThreadsInStat = 20;

// Whether `path` continues with `word`; then skips it.
bool skip(const char*& path, const char* word) {
  const std::size_t length = strlen(word);
  if (strncmp(path, word, length) != 0) return false;
  path += length;
  return true;
}

bool skip_number(const char*& path, long& number) {
  char* end = nullptr;
  if (*path < '1' || *path > '9') return false;
  number = strtol(path, &end, 10);
  if (*end != '/') return false;
  path = end + 1;
  return true;
}

// "status" or "stat" of this process, or null.
const char* own_file(const char* path) {
  if (!skip(path, "/proc/")) return nullptr;
  long number = 0;
  if (!skip(path, "self/") && !skip(path, "thread-self/") &&
      !(skip_number(path, number) && number == g_sched.process))
    return nullptr;
  if (skip(path, "task/") && !skip_number(path, number)) return nullptr;
  return strcmp(path, "status") == 0 || strcmp(path, "stat") == 0 ? path : nullptr;
}

// Where the number of threads is in `text`, or null.
char* find_count(char* text, const char* file) {
  if (strcmp(file, "status") == 0) {
    constexpr char kLabel[] = "\nThreads:\t";
    char* found = strstr(text, kLabel);
    return found != nullptr ? found + sizeof kLabel - 1 : nullptr;
  }
  // The name, in parentheses, may hold anything; the third field follows it.
  char* at = strrchr(text, ')');
  for (int field = 2; at != nullptr && field < kThreadsInStat; ++field) at = strchr(at + 1, ' ');
  return at != nullptr ? at + 1 : nullptr;
}

std::size_t read_all(int fd, char* out, std::size_t room) {
  std::size_t size = 0;
  while (size < room) {
    const long n = raw_syscall(SYS_read, fd, reinterpret_cast<long>(out + size),
                               static_cast<long>(room - size));
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  return size;
}

}  // namespace

void tell_own_threads(const char* path, int fd) {
  const char* file = own_file(path);
  if (file == nullptr) return;
  static char text[kRoom], changed[kRoom + 16];
  text[read_all(fd, text, kRoom - 1)] = '\0';
  raw_syscall(SYS_lseek, fd, 0, SEEK_SET);
  char* count = find_count(text, file);
  if (count == nullptr) return;
  int threads = 0;
  g_sched.threads.for_each_living([&](const Fiber&) { ++threads; });
  const std::size_t digits = strspn(count, "0123456789");
  const int size = snprintf(changed, sizeof changed, "%.*s%d%s", static_cast<int>(count - text),
                            text, threads, count + digits);
  const long memory = raw_syscall(SYS_memfd_create, reinterpret_cast<long>(path), MFD_CLOEXEC);
  if (memory < 0) return;
  raw_syscall(SYS_write, memory, reinterpret_cast<long>(changed), size);
  raw_syscall(SYS_lseek, memory, 0, SEEK_SET);
  const bool on_exec = (raw_syscall(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC) != 0;
  raw_syscall(SYS_dup3, memory, fd, on_exec ? O_CLOEXEC : 0);
  raw_syscall(SYS_close, memory);
}

}  // namespace clew::rt
