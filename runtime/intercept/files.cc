// Calls about files by their names. They are yield points: what one thread finds, another may
// change. Files that a job of a program that is run many times makes are gone before the next job
// (runtime/snapshot/created_files.h). The names of temporary files depend on the seed alone in
// every run under clew.
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/call.h"
#include "runtime/intercept/init.h"
#include "runtime/random.h"
#include "runtime/snapshot/created_files.h"
#include "runtime/snapshot/server.h"

using namespace clew::rt;

namespace {

// Not on the stack, for a thread's may be small. No function here calls another that uses the same
// one.
char g_path[kMaxPath];
char g_new_path[kMaxPath];

// Where libc keeps the shared memory and semaphores that have names.
constexpr char kSharedMemory[] = "/dev/shm/";

bool watching() { return g_sched.active && running_job(); }

// libc's own version, looked up at the first call.
template <class F>
F* next(F*& found, const char* name) {
  if (found == nullptr) found = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  return found;
}
#define CLEW_NEXT(name)                       \
  ([]() -> decltype(&::name) {                \
    static decltype(&::name) found = nullptr; \
    return next(found, #name);                \
  }())

#define CLEW_STEP(name) \
  if (g_sched.active) enter(operation(#name), CLEW_CALLER, kOutside)

// --- what is there -------------------------------------------------------------------------------

struct Status {
  bool exists = false;
  bool is_regular = false;
  FileIdentity file;
};

// Follows symbolic links unless `flags` says otherwise. Leaves errno alone, as all here does.
Status status_of(int folder, const char* path, int flags = 0) {
  struct stat status;
  if (raw_syscall(SYS_newfstatat, folder, reinterpret_cast<long>(path),
                  reinterpret_cast<long>(&status), flags) != 0)
    return {};
  return {true, S_ISREG(status.st_mode), {status.st_dev, status.st_ino}};
}

// Without symbolic links. False: it cannot be told.
bool path_of_descriptor(long fd, char (&out)[kMaxPath]) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
  const long size = raw_syscall(SYS_readlink, reinterpret_cast<long>(link),
                                reinterpret_cast<long>(out), kMaxPath - 1);
  if (size <= 0 || size >= static_cast<long>(kMaxPath) - 1) return false;
  out[size] = '\0';
  return out[0] == '/';
}

bool real_path(int folder, const char* path, char (&out)[kMaxPath]) {
  const long fd = raw_syscall(SYS_openat, folder, reinterpret_cast<long>(path),
                              O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  const bool known = path_of_descriptor(fd, out);
  raw_syscall(SYS_close, fd);
  return known;
}

// Devices, and what the kernel shows as files.
bool is_left_alone(const char* path) {
  if (strncmp(path, kSharedMemory, strlen(kSharedMemory)) == 0) return false;
  for (const char* folder : {"/dev/", "/proc/", "/sys/"})
    if (strncmp(path, folder, strlen(folder)) == 0) return true;
  return false;
}

// --- what the program does -----------------------------------------------------------------------

enum class Access : unsigned char { kReads, kWrites };

void note_opened(int fd, const Status& before, Access access) {
  if (fd < 0 || (before.exists && access == Access::kReads)) return;
  const Status now = status_of(fd, "", AT_EMPTY_PATH);
  if (!now.is_regular || !path_of_descriptor(fd, g_path) || is_left_alone(g_path)) return;
  if (!before.exists)
    note_created(g_path, now.file, false);
  else if (!was_created(now.file))
    note_changed(g_path);
}

// A new name that the call has made; a folder, link or pipe.
int note_made(int result, int folder, const char* name, bool is_folder) {
  if (result != 0 || !watching()) return result;
  if (real_path(folder, name, g_path) && !is_left_alone(g_path))
    note_created(g_path, status_of(folder, name, AT_SYMLINK_NOFOLLOW).file, is_folder);
  return result;
}

// A file that the program is about to remove or cut. Followed up once that has worked.
struct Victim {
  bool counts = false;

  Victim(int folder, const char* name) {
    if (!watching()) return;
    const Status status = status_of(folder, name, AT_SYMLINK_NOFOLLOW);
    counts = status.exists && !was_created(status.file) && real_path(folder, name, g_path) &&
             !is_left_alone(g_path);
  }
  int after(int result) const {
    if (result == 0 && counts) note_changed(g_path);
    return result;
  }
};

template <class Call>
int follow_rename(int from_folder, const char* from, int to_folder, const char* to, Call call) {
  if (!watching()) return call();
  const Status source = status_of(from_folder, from, AT_SYMLINK_NOFOLLOW);
  const bool known = real_path(from_folder, from, g_path);
  const Status target = status_of(to_folder, to, AT_SYMLINK_NOFOLLOW);
  const int result = call();
  if (result != 0 || !known || !real_path(to_folder, to, g_new_path)) return result;
  const bool replaces = target.exists && target.file.inode != source.file.inode;
  const bool replaces_old = replaces && !was_created(target.file);
  if (!was_created(source.file)) {
    note_changed(g_path);
  } else if (replaces_old) {
    note_changed(g_new_path);
  }
  note_renamed(g_path, replaces_old ? nullptr : g_new_path);
  return result;
}

template <class Open>
int watch_open(int folder, const char* path, int flags, Open open_it) {
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  if (!watching() || nameless || !writes) return open_it();
  const Status before = status_of(folder, path);
  const int fd = open_it();
  const bool may_write = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  note_opened(fd, before, may_write ? Access::kWrites : Access::kReads);
  return fd;
}

template <class Open>
FILE* watch_stream(const char* path, const char* mode, Open open_it) {
  const bool writes = mode[0] != 'r' || strchr(mode, '+') != nullptr;
  if (!watching() || path == nullptr || !writes) return open_it();
  const Status before = status_of(AT_FDCWD, path);
  FILE* file = open_it();
  if (file != nullptr) note_opened(fileno(file), before, Access::kWrites);
  return file;
}

// The file of a named object, by libc's rules.
template <std::size_t N>
bool path_of_object(const char* prefix, const char* name, char (&out)[N]) {
  while (*name == '/') ++name;
  const int size = snprintf(out, N, "%s%s%s", kSharedMemory, prefix, name);
  return size > 0 && size < static_cast<int>(N);
}

// --- temporary names -----------------------------------------------------------------------------

// Fills in the six X that stand before the suffix, until `make` finds a name that is free.
// One draw for each call, however many names it takes: the program's other randomness stays.
template <class Make>
int make_temporary(char* name, int suffix, Make make) {
  constexpr int kXs = 6;
  constexpr int kAttempts = 62 * 62 * 62;
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const std::size_t size = strlen(name);
  if (suffix < 0 || size < static_cast<std::size_t>(suffix) + kXs ||
      memcmp(name + size - static_cast<std::size_t>(suffix) - kXs, "XXXXXX", kXs) != 0) {
    errno = EINVAL;
    return -1;
  }
  char* const xs = name + size - static_cast<std::size_t>(suffix) - kXs;
  std::uint64_t state = 0;
  random_bytes(&state, sizeof state);
  const int error = errno;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint64_t bits = split_mix(state);
    for (int i = 0; i < kXs; ++i, bits /= 62) xs[i] = kLetters[bits % 62];
    const int result = make(name);
    if (result >= 0) {
      errno = error;
      return result;
    }
    if (errno != EEXIST) return -1;
  }
  errno = EEXIST;
  return -1;
}

int make_temporary_file(char* name, int suffix, int flags) {
  return make_temporary(name, suffix, [flags](const char* path) {
    const int making = (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL;
    return watch_open(AT_FDCWD, path, making,
                      [&] { return CLEW_NEXT(open)(path, making, S_IRUSR | S_IWUSR); });
  });
}

mode_t mode_argument(int flags, va_list& arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// --- opening -------------------------------------------------------------------------------------

#define CLEW_OPEN(name)                                                                           \
  CLEW_EXPORT int name(const char* path, int flags, ...) {                                        \
    CLEW_STEP(name);                                                                              \
    va_list arguments;                                                                            \
    va_start(arguments, flags);                                                                   \
    const mode_t mode = mode_argument(flags, arguments);                                          \
    va_end(arguments);                                                                            \
    return watch_open(AT_FDCWD, path, flags, [&] { return CLEW_NEXT(name)(path, flags, mode); }); \
  }
CLEW_OPEN(open)
CLEW_OPEN(open64)

#define CLEW_OPENAT(name)                                                          \
  CLEW_EXPORT int name(int folder, const char* path, int flags, ...) {             \
    CLEW_STEP(name);                                                               \
    va_list arguments;                                                             \
    va_start(arguments, flags);                                                    \
    const mode_t mode = mode_argument(flags, arguments);                           \
    va_end(arguments);                                                             \
    return watch_open(folder, path, flags,                                         \
                      [&] { return CLEW_NEXT(name)(folder, path, flags, mode); }); \
  }
CLEW_OPENAT(openat)
CLEW_OPENAT(openat64)

#define CLEW_CREAT(name)                                            \
  CLEW_EXPORT int name(const char* path, mode_t mode) {             \
    CLEW_STEP(name);                                                \
    return watch_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, \
                      [&] { return CLEW_NEXT(name)(path, mode); }); \
  }
CLEW_CREAT(creat)
CLEW_CREAT(creat64)

// What a fortified program calls instead of open without O_CREAT.
extern "C" {
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
}
CLEW_EXPORT int __open_2(const char* path, int flags) {
  CLEW_STEP(__open_2);
  return watch_open(AT_FDCWD, path, flags, [&] { return CLEW_NEXT(__open_2)(path, flags); });
}
CLEW_EXPORT int __open64_2(const char* path, int flags) {
  CLEW_STEP(__open64_2);
  return watch_open(AT_FDCWD, path, flags, [&] { return CLEW_NEXT(__open64_2)(path, flags); });
}
CLEW_EXPORT int __openat_2(int folder, const char* path, int flags) {
  CLEW_STEP(__openat_2);
  return watch_open(folder, path, flags,
                    [&] { return CLEW_NEXT(__openat_2)(folder, path, flags); });
}
CLEW_EXPORT int __openat64_2(int folder, const char* path, int flags) {
  CLEW_STEP(__openat64_2);
  return watch_open(folder, path, flags,
                    [&] { return CLEW_NEXT(__openat64_2)(folder, path, flags); });
}

CLEW_EXPORT FILE* fopen(const char* path, const char* mode) {
  CLEW_STEP(fopen);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(fopen)(path, mode); });
}
CLEW_EXPORT FILE* fopen64(const char* path, const char* mode) {
  CLEW_STEP(fopen64);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(fopen64)(path, mode); });
}
CLEW_EXPORT FILE* freopen(const char* path, const char* mode, FILE* stream) {
  CLEW_STEP(freopen);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(freopen)(path, mode, stream); });
}
CLEW_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  CLEW_STEP(freopen64);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(freopen64)(path, mode, stream); });
}

// --- looking -------------------------------------------------------------------------------------

#define CLEW_LOOK(name, parameters, call) \
  CLEW_EXPORT int name parameters {       \
    CLEW_STEP(name);                      \
    return CLEW_NEXT(name) call;          \
  }
CLEW_LOOK(access, (const char* path, int mode) noexcept, (path, mode))
CLEW_LOOK(faccessat, (int folder, const char* path, int mode, int flags) noexcept,
          (folder, path, mode, flags))
CLEW_LOOK(stat, (const char* path, struct stat* out) noexcept, (path, out))
CLEW_LOOK(stat64, (const char* path, struct stat64* out) noexcept, (path, out))
CLEW_LOOK(lstat, (const char* path, struct stat* out) noexcept, (path, out))
CLEW_LOOK(lstat64, (const char* path, struct stat64* out) noexcept, (path, out))
CLEW_LOOK(fstatat, (int folder, const char* path, struct stat* out, int flags) noexcept,
          (folder, path, out, flags))
CLEW_LOOK(fstatat64, (int folder, const char* path, struct stat64* out, int flags) noexcept,
          (folder, path, out, flags))
CLEW_LOOK(statx,
          (int folder, const char* path, int flags, unsigned mask, struct statx* out) noexcept,
          (folder, path, flags, mask, out))

// --- folders, links, pipes -----------------------------------------------------------------------

CLEW_EXPORT int mkdir(const char* path, mode_t mode) noexcept {
  CLEW_STEP(mkdir);
  return note_made(CLEW_NEXT(mkdir)(path, mode), AT_FDCWD, path, true);
}
CLEW_EXPORT int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  CLEW_STEP(mkdirat);
  return note_made(CLEW_NEXT(mkdirat)(folder, path, mode), folder, path, true);
}
CLEW_EXPORT int symlink(const char* target, const char* path) noexcept {
  CLEW_STEP(symlink);
  return note_made(CLEW_NEXT(symlink)(target, path), AT_FDCWD, path, false);
}
CLEW_EXPORT int symlinkat(const char* target, int folder, const char* path) noexcept {
  CLEW_STEP(symlinkat);
  return note_made(CLEW_NEXT(symlinkat)(target, folder, path), folder, path, false);
}
CLEW_EXPORT int link(const char* target, const char* path) noexcept {
  CLEW_STEP(link);
  return note_made(CLEW_NEXT(link)(target, path), AT_FDCWD, path, false);
}
CLEW_EXPORT int linkat(int from, const char* target, int folder, const char* path,
                       int flags) noexcept {
  CLEW_STEP(linkat);
  return note_made(CLEW_NEXT(linkat)(from, target, folder, path, flags), folder, path, false);
}
CLEW_EXPORT int mkfifo(const char* path, mode_t mode) noexcept {
  CLEW_STEP(mkfifo);
  return note_made(CLEW_NEXT(mkfifo)(path, mode), AT_FDCWD, path, false);
}

// --- names that are no files of the program's ----------------------------------------------------

CLEW_EXPORT int shm_open(const char* name, int flags, mode_t mode) {
  CLEW_STEP(shm_open);
  char path[NAME_MAX + sizeof kSharedMemory];
  const auto open_it = [&] { return CLEW_NEXT(shm_open)(name, flags, mode); };
  if (!path_of_object("", name, path)) return open_it();
  return watch_open(AT_FDCWD, path, flags, open_it);
}
CLEW_EXPORT int shm_unlink(const char* name) {
  CLEW_STEP(shm_unlink);
  char path[NAME_MAX + sizeof kSharedMemory];
  if (!path_of_object("", name, path)) return CLEW_NEXT(shm_unlink)(name);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(shm_unlink)(name));
}

CLEW_EXPORT sem_t* sem_open(const char* name, int flags, ...) {
  CLEW_STEP(sem_open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  const unsigned value = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  char path[NAME_MAX + sizeof kSharedMemory];
  const bool known = watching() && path_of_object("sem.", name, path);
  const bool existed = known && status_of(AT_FDCWD, path).exists;
  sem_t* const semaphore = CLEW_NEXT(sem_open)(name, flags, mode, value);
  if (known && !existed && semaphore != SEM_FAILED) note_made(0, AT_FDCWD, path, false);
  return semaphore;
}
CLEW_EXPORT int sem_unlink(const char* name) noexcept {
  CLEW_STEP(sem_unlink);
  char path[NAME_MAX + sizeof kSharedMemory];
  if (!path_of_object("sem.", name, path)) return CLEW_NEXT(sem_unlink)(name);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(sem_unlink)(name));
}

// A socket's path is a file; any other address that the program has chosen only one job at a time
// can have.
CLEW_EXPORT int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  CLEW_STEP(bind);
  const int result = CLEW_NEXT(bind)(fd, address, size);
  if (result != 0 || !watching()) return result;
  sockaddr_storage copy{};
  memcpy(&copy, address, size < sizeof copy ? size : sizeof copy - 1);
  if (copy.ss_family == AF_UNIX) {
    const auto& path = reinterpret_cast<const sockaddr_un&>(copy).sun_path;
    if (path[0] != '\0') return note_made(result, AT_FDCWD, path, false);
    if (size > sizeof(sa_family_t)) note_claimed();
  } else if (copy.ss_family == AF_INET || copy.ss_family == AF_INET6) {
    // At the same place for both.
    if (reinterpret_cast<const sockaddr_in&>(copy).sin_port != 0) note_claimed();
  }
  return result;
}

// --- renaming and removing -----------------------------------------------------------------------

CLEW_EXPORT int rename(const char* from, const char* to) noexcept {
  CLEW_STEP(rename);
  return follow_rename(AT_FDCWD, from, AT_FDCWD, to, [&] { return CLEW_NEXT(rename)(from, to); });
}
CLEW_EXPORT int renameat(int from_folder, const char* from, int to_folder,
                         const char* to) noexcept {
  CLEW_STEP(renameat);
  return follow_rename(from_folder, from, to_folder, to,
                       [&] { return CLEW_NEXT(renameat)(from_folder, from, to_folder, to); });
}
CLEW_EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                          unsigned flags) noexcept {
  CLEW_STEP(renameat2);
  return follow_rename(from_folder, from, to_folder, to, [&] {
    return CLEW_NEXT(renameat2)(from_folder, from, to_folder, to, flags);
  });
}
CLEW_EXPORT int unlink(const char* path) noexcept {
  CLEW_STEP(unlink);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(unlink)(path));
}
CLEW_EXPORT int unlinkat(int folder, const char* path, int flags) noexcept {
  CLEW_STEP(unlinkat);
  const Victim victim(folder, path);
  return victim.after(CLEW_NEXT(unlinkat)(folder, path, flags));
}
CLEW_EXPORT int remove(const char* path) noexcept {
  CLEW_STEP(remove);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(remove)(path));
}
CLEW_EXPORT int rmdir(const char* path) noexcept {
  CLEW_STEP(rmdir);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(rmdir)(path));
}
CLEW_EXPORT int truncate(const char* path, off_t size) noexcept {
  CLEW_STEP(truncate);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(truncate)(path, size));
}
CLEW_EXPORT int truncate64(const char* path, off64_t size) noexcept {
  CLEW_STEP(truncate64);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(truncate64)(path, size));
}

// --- temporary files -----------------------------------------------------------------------------

#define CLEW_TEMPORARY(name, parameters, call, suffix, flags) \
  CLEW_EXPORT int name parameters {                           \
    if (!g_sched.active) return CLEW_NEXT(name) call;         \
    CLEW_STEP(name);                                          \
    return make_temporary_file(pattern, suffix, flags);       \
  }
CLEW_TEMPORARY(mkstemp, (char* pattern), (pattern), 0, 0)
CLEW_TEMPORARY(mkstemp64, (char* pattern), (pattern), 0, 0)
CLEW_TEMPORARY(mkostemp, (char* pattern, int flags), (pattern, flags), 0, flags)
CLEW_TEMPORARY(mkostemp64, (char* pattern, int flags), (pattern, flags), 0, flags)
CLEW_TEMPORARY(mkstemps, (char* pattern, int suffix), (pattern, suffix), suffix, 0)
CLEW_TEMPORARY(mkstemps64, (char* pattern, int suffix), (pattern, suffix), suffix, 0)
CLEW_TEMPORARY(mkostemps, (char* pattern, int suffix, int flags), (pattern, suffix, flags), suffix,
               flags)
CLEW_TEMPORARY(mkostemps64, (char* pattern, int suffix, int flags), (pattern, suffix, flags),
               suffix, flags)

CLEW_EXPORT char* mkdtemp(char* pattern) noexcept {
  if (!g_sched.active) return CLEW_NEXT(mkdtemp)(pattern);
  CLEW_STEP(mkdtemp);
  const int made = make_temporary(pattern, 0, [](const char* path) {
    return note_made(CLEW_NEXT(mkdir)(path, S_IRWXU), AT_FDCWD, path, true);
  });
  return made == 0 ? pattern : nullptr;
}
