#include "host/search/servable.h"

#include <string_view>
#include <unordered_set>

#include "host/elf/elf_file.h"

namespace clew {
namespace {

// What the kernel keeps for a process, and copying back its memory does not undo.
constexpr std::string_view kLasting[] = {"chdir",
                                         "fchdir",
                                         "chroot",
                                         "umask",
                                         "setrlimit",
                                         "prlimit",
                                         "setrlimit64",
                                         "prlimit64",
                                         "setpriority",
                                         "nice",
                                         "prctl",
                                         "personality",
                                         "setuid",
                                         "setgid",
                                         "setsid",
                                         "setpgid",
                                         "unshare",
                                         "mlock",
                                         "mlockall",
                                         "shmat",
                                         "shmget",
                                         "semget",
                                         "msgget",
                                         "shm_open",
                                         "mq_open",
                                         "sem_open",
                                         "alarm",
                                         "setitimer",
                                         "timer_create",
                                         "sigaltstack",
                                         "fork",
                                         "vfork",
                                         "posix_spawn",
                                         "posix_spawnp",
                                         "system",
                                         "popen",
                                         "daemon",
                                         "mprotect",
                                         "madvise",
                                         "userfaultfd",
                                         "ptrace",
                                         "capset",
                                         "arch_prctl",
                                         "sched_setaffinity",
                                         "sched_setscheduler",
                                         "__asan_init",
                                         "__ubsan_handle_type_mismatch_v1"};

}  // namespace

Servable how_to_serve(const std::string& program) {
  const auto file = ElfFile::open(program);
  if (!file) return {};
  const auto names = file->section(".dynstr");
  if (!names) return {};
  const std::unordered_set<std::string_view> lasting(std::begin(kLasting), std::end(kLasting));
  std::string_view text(reinterpret_cast<const char*>(names->bytes.data()), names->bytes.size());
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('\0'));
    if (lasting.contains(name)) return {std::string(name) + "()"};
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  return {};
}

}  // namespace clew
