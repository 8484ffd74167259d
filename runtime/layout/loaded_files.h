// What the dynamic linker gets when it asks for a file of an imported recording: by the starter, and
// later by the runtime (dlopen). All that is not among the recording's files does not exist for it.
#ifndef CLEW_RUNTIME_LAYOUT_LOADED_FILES_H_
#define CLEW_RUNTIME_LAYOUT_LOADED_FILES_H_

#include <errno.h>
#include <sys/syscall.h>

#include "clew_abi/start_file.h"
#include "runtime/raw_syscall.h"

namespace clew::rt {

// The argument of a system call that is the path by which a file is found; -1: none.
inline int path_argument(long number) {
  switch (number) {
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
      return 0;
    case SYS_openat:
    case SYS_newfstatat:
    case SYS_faccessat:
    case SYS_readlinkat:
    case SYS_statx:
      return 1;
    default:
      return -1;
  }
}

struct LoadedFiles {
  abi::StartTable files;
  long log = -1;  // StartHeader::log

  // readlink("/proc/self/exe"), by which programs and the dynamic linker find what is beside them: the
  // kernel would name the starter.
  bool asks_for_program(long number, const long* arguments) const {
    if ((number != SYS_readlink && number != SYS_readlinkat) || files.empty()) return false;
    const auto* const path = reinterpret_cast<const char*>(arguments[path_argument(number)]);
    return path != nullptr && abi::StartTable::is_same(path, "/proc/self/exe");
  }
  // The answer to it. `arguments`: path, room, size.
  long copy_program(const long* arguments) const {
    const char* const program = files.text(abi::StartText::kProgram);
    auto* const room = reinterpret_cast<char*>(arguments[1]);
    long size = 0;
    for (; size < arguments[2] && program[size] != '\0'; ++size) room[size] = program[size];
    return size;
  }

  // The answer to a system call of the dynamic linker, which `make` makes.
  template <class Make>
  long answer(long number, long* arguments, Make make) const {
    const int index = path_argument(number);
    const auto* const path = index < 0 ? "" : reinterpret_cast<const char*>(arguments[index]);
    if (path == nullptr || path[0] == '\0') return make();
    const char* const file = files.find(path);
    if (file == nullptr && log < 0) return -ENOENT;
    if (file != nullptr) arguments[index] = reinterpret_cast<long>(file);
    const long result = make();
    if (log >= 0 && result >= 0 && (number == SYS_open || number == SYS_openat)) {
      long size = 1;
      while (path[size - 1] != '\0') ++size;
      raw_syscall(SYS_write, log, reinterpret_cast<long>(path), size);
    }
    return result;
  }
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LAYOUT_LOADED_FILES_H_
