#include "runtime/snapshot/created_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "runtime/fiber/raw_syscall.h"
#include "runtime/snapshot/keep.h"

namespace clew::rt {
namespace {

constexpr std::uint32_t kMaxFiles = 4096;

struct File {
  FileIdentity identity;
  bool is_folder;
  char path[kMaxPath];  // empty: not to be removed any more
};

struct Files {
  std::uint32_t count;
  File list[kMaxFiles];
};

Files* files() { return keep_ready ? static_cast<Files*>(kept().created_files) : nullptr; }

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

// Whether `path` is `folder` or lies in it; then what follows.
const char* within(const char* path, const char* folder) {
  const std::size_t size = strlen(folder);
  if (strncmp(path, folder, size) != 0) return nullptr;
  return path[size] == '\0' || path[size] == '/' ? path + size : nullptr;
}

void remove(const File& file) {
  struct stat status;
  if (file.path[0] == '\0' ||
      raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>(file.path),
                  reinterpret_cast<long>(&status), AT_SYMLINK_NOFOLLOW) != 0)
    return;
  if (status.st_dev != file.identity.device || status.st_ino != file.identity.inode) return;
  raw_syscall(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(file.path),
              file.is_folder ? AT_REMOVEDIR : 0);
}

}  // namespace

void created_files_init() {
  if (kept().created_files == nullptr) kept().created_files = keep_alloc(sizeof(Files));
}

std::uint32_t created_count() { return files() != nullptr ? files()->count : 0; }

void note_created(const char* path, const FileIdentity& identity, bool is_folder) {
  Files* all = files();
  if (all == nullptr || all->count == kMaxFiles || strlen(path) >= kMaxPath) return;
  File& file = all->list[all->count];
  file.identity = identity;
  file.is_folder = is_folder;
  strcpy(file.path, path);
  ++all->count;
  note_claimed();
}

void note_claimed() { control().created_files.fetch_add(1, std::memory_order_relaxed); }

bool was_created(const FileIdentity& file) {
  const Files* all = files();
  for (std::uint32_t i = 0; all != nullptr && i < all->count; ++i)
    if (all->list[i].identity.inode == file.inode && all->list[i].identity.device == file.device)
      return true;
  return false;
}

void note_renamed(const char* from, const char* to) {
  Files* all = files();
  for (std::uint32_t i = 0; all != nullptr && i < all->count; ++i) {
    File& file = all->list[i];
    const char* rest = within(file.path, from);
    if (rest == nullptr) continue;
    static char path[kMaxPath];  // not on the stack, for a thread's may be small
    const std::size_t size = to != nullptr ? strlen(to) : 0;
    if (to == nullptr || size + strlen(rest) >= kMaxPath) {
      file.path[0] = '\0';
      continue;
    }
    strcpy(path, to);
    strcpy(path + size, rest);
    strcpy(file.path, path);
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
  Files* all = files();
  if (all == nullptr) return;
  // Counted down one by one: should this process die here, its parent goes on with the rest.
  while (all->count > first && all->count <= kMaxFiles) {
    remove(all->list[all->count - 1]);
    --all->count;
  }
}

}  // namespace clew::rt
