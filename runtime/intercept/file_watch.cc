#include "runtime/intercept/file_watch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

// Not on the stack: a thread's may be small. No function here calls another that uses the same
// buffer.
char g_path[kMaxPath];
char g_new_path[kMaxPath];

// The path without symbolic links. False: it cannot be determined.
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

}  // namespace

bool watching() { return g_sched.active && notes_created_files(); }

FileStatus file_status(int folder, const char* path, int flags) {
  struct stat status;
  if (raw_syscall(SYS_newfstatat, folder, reinterpret_cast<long>(path),
                  reinterpret_cast<long>(&status), flags) != 0)
    return {};
  return {true, S_ISREG(status.st_mode), {status.st_dev, status.st_ino}};
}

void note_opened(int fd, const FileStatus& before, Access access) {
  if (fd < 0 || (before.exists && access == Access::kReads)) return;
  const FileStatus now = file_status(fd, "", AT_EMPTY_PATH);
  if (!now.is_regular || !path_of_descriptor(fd, g_path) || is_left_alone(g_path)) return;
  if (!before.exists)
    note_created(CreatedKind::kFile, g_path, now.file);
  else if (!was_created(now.file))
    note_changed(g_path);
}

int note_made(int result, CreatedKind kind, int folder, const char* name) {
  if (result != 0 || !watching()) return result;
  if (real_path(folder, name, g_path) && !is_left_alone(g_path))
    note_created(kind, g_path, file_status(folder, name, AT_SYMLINK_NOFOLLOW).file);
  return result;
}

Victim::Victim(int folder, const char* name) {
  if (!watching()) return;
  const FileStatus status = file_status(folder, name, AT_SYMLINK_NOFOLLOW);
  counts_ = status.exists && !was_created(status.file) && real_path(folder, name, g_path) &&
            !is_left_alone(g_path);
}

int Victim::after(int result) const {
  if (result == 0 && counts_) note_changed(g_path);
  return result;
}

Renaming::Renaming(int from_folder, const char* from, int to_folder, const char* to)
    : to_folder_(to_folder), to_(to) {
  if (!watching()) return;
  source_ = file_status(from_folder, from, AT_SYMLINK_NOFOLLOW);
  known_ = real_path(from_folder, from, g_path);
  target_ = file_status(to_folder, to, AT_SYMLINK_NOFOLLOW);
}

int Renaming::after(int result) const {
  if (result != 0 || !known_ || !real_path(to_folder_, to_, g_new_path)) return result;
  const bool replaces = target_.exists && target_.file.inode != source_.file.inode;
  const bool replaces_old = replaces && !was_created(target_.file);
  if (!was_created(source_.file)) {
    note_changed(g_path);
  } else if (replaces_old) {
    note_changed(g_new_path);
  }
  note_renamed(g_path, replaces_old ? nullptr : g_new_path);
  return result;
}

}  // namespace clew::rt
