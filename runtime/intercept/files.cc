// Calls about files by their names.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/intercept/file_watch.h"

using namespace clew::rt;

namespace {

template <class Open>
FILE* watch_stream(const char* path, const char* mode, Open open_it) {
  const bool writes = mode[0] != 'r' || strchr(mode, '+') != nullptr;
  if (!watching() || path == nullptr || !writes) return open_it();
  const FileStatus before = file_status(AT_FDCWD, path);
  FILE* file = open_it();
  if (file != nullptr) note_opened(fileno(file), before, Access::kWrites);
  return file;
}

}  // namespace

// --- opening -------------------------------------------------------------------------------------

#define CLEW_OPEN(name)                                                                           \
  CLEW_INTERPOSE int name(const char* path, int flags, ...) {                                     \
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
  CLEW_INTERPOSE int name(int folder, const char* path, int flags, ...) {          \
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
  CLEW_INTERPOSE int name(const char* path, mode_t mode) {          \
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
CLEW_INTERPOSE int __open_2(const char* path, int flags) {
  CLEW_STEP(__open_2);
  return watch_open(AT_FDCWD, path, flags, [&] { return CLEW_NEXT(__open_2)(path, flags); });
}
CLEW_INTERPOSE int __open64_2(const char* path, int flags) {
  CLEW_STEP(__open64_2);
  return watch_open(AT_FDCWD, path, flags, [&] { return CLEW_NEXT(__open64_2)(path, flags); });
}
CLEW_INTERPOSE int __openat_2(int folder, const char* path, int flags) {
  CLEW_STEP(__openat_2);
  return watch_open(folder, path, flags,
                    [&] { return CLEW_NEXT(__openat_2)(folder, path, flags); });
}
CLEW_INTERPOSE int __openat64_2(int folder, const char* path, int flags) {
  CLEW_STEP(__openat64_2);
  return watch_open(folder, path, flags,
                    [&] { return CLEW_NEXT(__openat64_2)(folder, path, flags); });
}

CLEW_INTERPOSE FILE* fopen(const char* path, const char* mode) {
  CLEW_STEP(fopen);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(fopen)(path, mode); });
}
CLEW_INTERPOSE FILE* fopen64(const char* path, const char* mode) {
  CLEW_STEP(fopen64);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(fopen64)(path, mode); });
}
CLEW_INTERPOSE FILE* freopen(const char* path, const char* mode, FILE* stream) {
  CLEW_STEP(freopen);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(freopen)(path, mode, stream); });
}
CLEW_INTERPOSE FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  CLEW_STEP(freopen64);
  return watch_stream(path, mode, [&] { return CLEW_NEXT(freopen64)(path, mode, stream); });
}

// --- looking -------------------------------------------------------------------------------------

#define CLEW_LOOK(name, parameters, call) \
  CLEW_INTERPOSE int name parameters {    \
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

CLEW_INTERPOSE int mkdir(const char* path, mode_t mode) noexcept {
  CLEW_STEP(mkdir);
  return note_made(CLEW_NEXT(mkdir)(path, mode), CreatedKind::kFolder, AT_FDCWD, path);
}
CLEW_INTERPOSE int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  CLEW_STEP(mkdirat);
  return note_made(CLEW_NEXT(mkdirat)(folder, path, mode), CreatedKind::kFolder, folder, path);
}
CLEW_INTERPOSE int symlink(const char* target, const char* path) noexcept {
  CLEW_STEP(symlink);
  return note_made(CLEW_NEXT(symlink)(target, path), CreatedKind::kFile, AT_FDCWD, path);
}
CLEW_INTERPOSE int symlinkat(const char* target, int folder, const char* path) noexcept {
  CLEW_STEP(symlinkat);
  return note_made(CLEW_NEXT(symlinkat)(target, folder, path), CreatedKind::kFile, folder, path);
}
CLEW_INTERPOSE int link(const char* target, const char* path) noexcept {
  CLEW_STEP(link);
  return note_made(CLEW_NEXT(link)(target, path), CreatedKind::kFile, AT_FDCWD, path);
}
CLEW_INTERPOSE int linkat(int from, const char* target, int folder, const char* path,
                          int flags) noexcept {
  CLEW_STEP(linkat);
  return note_made(CLEW_NEXT(linkat)(from, target, folder, path, flags), CreatedKind::kFile, folder,
                   path);
}
CLEW_INTERPOSE int mkfifo(const char* path, mode_t mode) noexcept {
  CLEW_STEP(mkfifo);
  return note_made(CLEW_NEXT(mkfifo)(path, mode), CreatedKind::kFile, AT_FDCWD, path);
}

// --- renaming and removing -----------------------------------------------------------------------

CLEW_INTERPOSE int rename(const char* from, const char* to) noexcept {
  CLEW_STEP(rename);
  const Renaming renaming(AT_FDCWD, from, AT_FDCWD, to);
  return renaming.after(CLEW_NEXT(rename)(from, to));
}
CLEW_INTERPOSE int renameat(int from_folder, const char* from, int to_folder,
                            const char* to) noexcept {
  CLEW_STEP(renameat);
  const Renaming renaming(from_folder, from, to_folder, to);
  return renaming.after(CLEW_NEXT(renameat)(from_folder, from, to_folder, to));
}
CLEW_INTERPOSE int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                             unsigned flags) noexcept {
  CLEW_STEP(renameat2);
  const Renaming renaming(from_folder, from, to_folder, to);
  return renaming.after(CLEW_NEXT(renameat2)(from_folder, from, to_folder, to, flags));
}
CLEW_INTERPOSE int unlink(const char* path) noexcept {
  CLEW_STEP(unlink);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(unlink)(path));
}
CLEW_INTERPOSE int unlinkat(int folder, const char* path, int flags) noexcept {
  CLEW_STEP(unlinkat);
  const Victim victim(folder, path);
  return victim.after(CLEW_NEXT(unlinkat)(folder, path, flags));
}
CLEW_INTERPOSE int remove(const char* path) noexcept {
  CLEW_STEP(remove);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(remove)(path));
}
CLEW_INTERPOSE int rmdir(const char* path) noexcept {
  CLEW_STEP(rmdir);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(rmdir)(path));
}
CLEW_INTERPOSE int truncate(const char* path, off_t size) noexcept {
  CLEW_STEP(truncate);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(truncate)(path, size));
}
CLEW_INTERPOSE int truncate64(const char* path, off64_t size) noexcept {
  CLEW_STEP(truncate64);
  const Victim victim(AT_FDCWD, path);
  return victim.after(CLEW_NEXT(truncate64)(path, size));
}
