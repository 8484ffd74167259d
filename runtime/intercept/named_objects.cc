// Names other than those of files: shared memory, semaphores, queues, sockets.
#include <errno.h>
#include <limits.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "runtime/intercept/file_watch.h"
#include "runtime/raw_syscall.h"

using namespace clew::rt;

namespace {

// The file of a named object, by libc's rules.
template <std::size_t N>
bool path_of_object(const char* prefix, const char* name, char (&out)[N]) {
  while (*name == '/') ++name;
  const int size = snprintf(out, N, "%s%s%s", kSharedMemory, prefix, name);
  return size > 0 && size < static_cast<int>(N);
}

// `name` is without the slash, as the kernel has it.
bool queue_exists(const char* name) {
  const long queue = raw_syscall(SYS_mq_open, reinterpret_cast<long>(name), O_RDONLY | O_CLOEXEC);
  if (queue >= 0) raw_syscall(SYS_close, queue);
  return queue >= 0 || queue == -EACCES;
}

}  // namespace

CLEW_INTERPOSE int shm_open(const char* name, int flags, mode_t mode) {
  CLEW_STEP(shm_open);
  char path[NAME_MAX + sizeof kSharedMemory];
  const auto open_it = [&] { return CLEW_NEXT(shm_open)(name, flags, mode); };
  if (!path_of_object("", name, path)) return open_it();
  return watch_open(AT_FDCWD, path, flags, open_it);
}
CLEW_INTERPOSE int shm_unlink(const char* name) {
  CLEW_STEP(shm_unlink);
  char path[NAME_MAX + sizeof kSharedMemory];
  if (!path_of_object("", name, path)) return CLEW_NEXT(shm_unlink)(name);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(shm_unlink)(name));
}

CLEW_INTERPOSE sem_t* sem_open(const char* name, int flags, ...) {
  CLEW_STEP(sem_open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  const unsigned value = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  char path[NAME_MAX + sizeof kSharedMemory];
  const bool known = watching() && path_of_object("sem.", name, path);
  const bool existed = known && file_status(AT_FDCWD, path).exists;
  sem_t* const semaphore = CLEW_NEXT(sem_open)(name, flags, mode, value);
  if (known && !existed && semaphore != SEM_FAILED)
    note_made(0, CreatedKind::kFile, AT_FDCWD, path);
  return semaphore;
}
CLEW_INTERPOSE int sem_unlink(const char* name) noexcept {
  CLEW_STEP(sem_unlink);
  char path[NAME_MAX + sizeof kSharedMemory];
  if (!path_of_object("sem.", name, path)) return CLEW_NEXT(sem_unlink)(name);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(sem_unlink)(name));
}

CLEW_INTERPOSE mqd_t mq_open(const char* name, int flags, ...) {
  CLEW_STEP(mq_open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  mq_attr* const attributes = (flags & O_CREAT) != 0 ? va_arg(arguments, mq_attr*) : nullptr;
  va_end(arguments);
  const bool may_create = watching() && (flags & O_CREAT) != 0 && name[0] == '/';
  const bool existed = may_create && queue_exists(name + 1);
  const mqd_t queue = CLEW_NEXT(mq_open)(name, flags, mode, attributes);
  if (may_create && !existed && queue != -1)
    note_created(CreatedKind::kQueue, name + 1, file_status(queue, "", AT_EMPTY_PATH).file);
  return queue;
}
CLEW_INTERPOSE int mq_unlink(const char* name) noexcept {
  CLEW_STEP(mq_unlink);
  return CLEW_NEXT(mq_unlink)(name);
}

// A socket's path is a file; any other address that the program has chosen can be used by only one
// job at a time.
CLEW_INTERPOSE int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  CLEW_STEP(bind);
  const int result = CLEW_NEXT(bind)(fd, address, size);
  if (result != 0 || !watching()) return result;
  sockaddr_storage copy{};
  memcpy(&copy, address, size < sizeof copy ? size : sizeof copy - 1);
  if (copy.ss_family == AF_UNIX) {
    const auto& path = reinterpret_cast<const sockaddr_un&>(copy).sun_path;
    if (path[0] != '\0') return note_made(result, CreatedKind::kFile, AT_FDCWD, path);
    if (size > sizeof(sa_family_t)) note_claimed();
  } else if (copy.ss_family == AF_INET || copy.ss_family == AF_INET6) {
    // The port is at the same place in both.
    if (reinterpret_cast<const sockaddr_in&>(copy).sin_port != 0) note_claimed();
  }
  return result;
}
