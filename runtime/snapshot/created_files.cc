#include "runtime/snapshot/created_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "runtime/keep.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/log.h"

namespace clew::rt {
namespace {

// Chosen, not measured.
constexpr std::uint32_t kMaxFiles = 4096;

struct File {
  FileIdentity identity;
  abi::CreatedKind kind;
  char path[kMaxPath];  // empty: not to be removed any more
};

struct Files {
  std::uint32_t count;
  File list[kMaxFiles];
};

Files* g_files = nullptr;  // null: nothing is noted

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

// Whether `path` is `folder` or lies in it; then what follows.
const char* within(const char* path, const char* folder) {
  const std::size_t size = strlen(folder);
  if (strncmp(path, folder, size) != 0) return nullptr;
  return path[size] == '\0' || path[size] == '/' ? path + size : nullptr;
}

// Whether the name contains the process id: no other run uses the same name.
bool is_of_this_process(const char* path) {
  const auto self = static_cast<unsigned long>(raw_syscall(SYS_getpid));
  const char* name = strrchr(path, '/');
  for (const char* c = name != nullptr ? name : path; *c != '\0';) {
    char* end = nullptr;
    if (*c < '0' || *c > '9')
      ++c;
    else if (strtoul(c, &end, 10) == self)
      return true;
    else
      c = end;
  }
  return false;
}

// Whether the file under that name is still the same.
bool stands_there(const File& file) {
  const long path = reinterpret_cast<long>(file.path);
  struct stat status;
  long result = -1;
  if (file.kind == abi::CreatedKind::kQueue) {
    const long queue = raw_syscall(SYS_mq_open, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (queue < 0) return false;
    result = raw_syscall(SYS_fstat, queue, reinterpret_cast<long>(&status));
    raw_syscall(SYS_close, queue);
  } else {
    result = raw_syscall(SYS_newfstatat, AT_FDCWD, path, reinterpret_cast<long>(&status),
                         AT_SYMLINK_NOFOLLOW);
  }
  return result == 0 && status.st_dev == file.identity.device &&
         status.st_ino == file.identity.inode;
}

void remove(const File& file) {
  if (file.path[0] == '\0' || !stands_there(file)) return;
  const long path = reinterpret_cast<long>(file.path);
  if (file.kind == abi::CreatedKind::kQueue)
    raw_syscall(SYS_mq_unlink, path);
  else
    raw_syscall(SYS_unlinkat, AT_FDCWD, path,
                file.kind == abi::CreatedKind::kFolder ? AT_REMOVEDIR : 0);
}

void tell(const File& file) {
  if ((control().flags & abi::kFlagTellCreated) == 0) return;
  Payload payload;
  payload.number(static_cast<std::uint64_t>(&file - g_files->list))
      .number(static_cast<std::uint64_t>(file.kind))
      .number(file.identity.device)
      .number(file.identity.inode)
      .text(file.path);
  g_log.message(abi::MessageType::kCreated, payload);
}

}  // namespace

void created_files_init() {
  keep_init();
  if (g_files == nullptr) g_files = static_cast<Files*>(keep_alloc(sizeof(Files)));
}

void created_files_leave() { g_files = nullptr; }

bool notes_created_files() { return g_files != nullptr; }

std::uint32_t created_count() { return g_files != nullptr ? g_files->count : 0; }

void note_created(abi::CreatedKind kind, const char* path, const FileIdentity& identity) {
  Files* all = g_files;
  if (all == nullptr || all->count == kMaxFiles || strlen(path) >= kMaxPath) return;
  File& file = all->list[all->count];
  file.identity = identity;
  file.kind = kind;
  strcpy(file.path, path);
  ++all->count;
  if (!is_of_this_process(path)) note_claimed();
  tell(file);
}

void note_claimed() { control().claimed.fetch_add(1, std::memory_order_relaxed); }

bool was_created(const FileIdentity& file) {
  const Files* all = g_files;
  for (std::uint32_t i = 0; all != nullptr && i < all->count; ++i)
    if (all->list[i].identity.inode == file.inode && all->list[i].identity.device == file.device)
      return true;
  return false;
}

void note_renamed(const char* from, const char* to) {
  Files* all = g_files;
  for (std::uint32_t i = 0; all != nullptr && i < all->count; ++i) {
    File& file = all->list[i];
    const char* rest = within(file.path, from);
    if (rest == nullptr) continue;
    static char path[kMaxPath];  // not on the stack: a thread's may be small
    const std::size_t size = to != nullptr ? strlen(to) : 0;
    if (to == nullptr || size + strlen(rest) >= kMaxPath) {
      file.path[0] = '\0';
    } else {
      strcpy(path, to);
      strcpy(path + size, rest);
      strcpy(file.path, path);
    }
    tell(file);
  }
}

void note_changed(const char* path) {
  if (control().changed_files.load(std::memory_order_relaxed) == 0) {
    strncpy(control().changed_file, path, abi::kMaxChangedPath - 1);
    control().changed_file[abi::kMaxChangedPath - 1] = '\0';
  }
  control().changed_files.fetch_add(1, std::memory_order_release);
}

void remove_created(std::uint32_t first) {
  Files* all = g_files;
  if (all == nullptr) return;
  // Counted down one by one: should this process die here, its parent removes the rest.
  while (all->count > first && all->count <= kMaxFiles) {
    remove(all->list[all->count - 1]);
    --all->count;
  }
}

}  // namespace clew::rt
