// What the program does to files, watched in the runs of hunts and of isolations: the files that a
// run creates are removed before the next (snapshot/created_files.h). Shared by the files about
// files: files.cc, named_objects.cc, temporary_files.cc.
#ifndef CLEW_RUNTIME_INTERCEPT_FILE_WATCH_H_
#define CLEW_RUNTIME_INTERCEPT_FILE_WATCH_H_

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

#include "runtime/intercept/call.h"
#include "runtime/snapshot/created_files.h"

// libc's own version, looked up at the first call.
#define CLEW_NEXT(name)                       \
  ([]() -> decltype(&::name) {                \
    static decltype(&::name) found = nullptr; \
    return ::clew::rt::next(found, #name);    \
  }())
// Such a call is a yield point: another thread may change what this one finds.
#define CLEW_STEP(name)           \
  if (::clew::rt::g_sched.active) \
  ::clew::rt::enter(::clew::rt::operation(#name), CLEW_CALLER, ::clew::rt::kOutside)

namespace clew::rt {

using abi::CreatedKind;

template <class F>
F* next(F*& found, const char* name) {
  if (found == nullptr) found = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  return found;
}

// Where libc keeps the shared memory and semaphores that have names.
inline constexpr char kSharedMemory[] = "/dev/shm/";

bool watching();

struct FileStatus {
  bool exists = false;
  bool is_regular = false;
  FileIdentity file;
};
// Follows symbolic links unless `flags` says otherwise. Leaves errno alone, as all functions here
// do.
FileStatus file_status(int folder, const char* path, int flags = 0);

enum class Access : unsigned char { kReads, kWrites };
void note_opened(int fd, const FileStatus& before, Access access);
// A new name that the call has made; a folder, link or pipe.
int note_made(int result, CreatedKind kind, int folder, const char* name);

// A file that the program is about to remove or truncate. Noted once that has succeeded.
class Victim {
 public:
  Victim(int folder, const char* name);
  int after(int result) const;

 private:
  bool counts_ = false;
};

// A file that the program is about to rename.
class Renaming {
 public:
  Renaming(int from_folder, const char* from, int to_folder, const char* to);
  int after(int result) const;

 private:
  int to_folder_;
  const char* to_;
  bool known_ = false;
  FileStatus source_;
  FileStatus target_;
};

template <class Open>
int watch_open(int folder, const char* path, int flags, Open open_it) {
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  if (!watching() || nameless || !writes) return open_it();
  const FileStatus before = file_status(folder, path);
  const int fd = open_it();
  const bool may_write = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  note_opened(fd, before, may_write ? Access::kWrites : Access::kReads);
  return fd;
}

inline mode_t mode_argument(int flags, va_list& arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_FILE_WATCH_H_
