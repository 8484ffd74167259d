#include "host/target/syscall_names.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

namespace clew {
namespace {

struct Name {
  long number;
  const char* text;
  bool descriptor;
};

// The calls in which a program can sleep for long.
constexpr Name kNames[] = {
    {SYS_read, "read", true},
    {SYS_readv, "readv", true},
    {SYS_pread64, "pread", true},
    {SYS_preadv, "preadv", true},
    {SYS_preadv2, "preadv2", true},
    {SYS_write, "write", true},
    {SYS_writev, "writev", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_pwritev, "pwritev", true},
    {SYS_pwritev2, "pwritev2", true},
    {SYS_sendfile, "sendfile", true},
    {SYS_splice, "splice", true},
    {SYS_tee, "tee", true},
    {SYS_vmsplice, "vmsplice", true},
    {SYS_open, "open", false},
    {SYS_openat, "openat", false},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_connect, "connect", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true},
    {SYS_recvfrom, "recvfrom", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_recvmmsg, "recvmmsg", true},
    {SYS_sendto, "sendto", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_sendmmsg, "sendmmsg", true},
    {SYS_poll, "poll", false},
    {SYS_ppoll, "ppoll", false},
    {SYS_select, "select", false},
    {SYS_pselect6, "pselect", false},
    {SYS_epoll_wait, "epoll_wait", true},
    {SYS_epoll_pwait, "epoll_pwait", true},
    {SYS_epoll_pwait2, "epoll_pwait2", true},
    {SYS_futex, "futex", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_pause, "pause", false},
    {SYS_rt_sigsuspend, "sigsuspend", false},
    {SYS_rt_sigtimedwait, "sigtimedwait", false},
    {SYS_wait4, "wait4", false},
    {SYS_waitid, "waitid", false},
    {SYS_semop, "semop", false},
    {SYS_semtimedop, "semtimedop", false},
    {SYS_msgrcv, "msgrcv", false},
    {SYS_msgsnd, "msgsnd", false},
    {SYS_mq_timedreceive, "mq_timedreceive", true},
    {SYS_mq_timedsend, "mq_timedsend", true},
    {SYS_io_uring_enter, "io_uring_enter", true},
    {SYS_io_getevents, "io_getevents", false},
};

// What else can be in abi::JobResult::lasting. Where libc's function has another name, that one.
struct Lasting {
  long number;
  const char* text;
};
constexpr Lasting kLasting[] = {
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork() or posix_spawn"},
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_prctl, "prctl"},
    {SYS_setrlimit, "setrlimit"},
    {SYS_chdir, "chdir"},
    {SYS_fchdir, "fchdir"},
    {SYS_chroot, "chroot"},
    {SYS_mount, "mount"},
    {SYS_umount2, "umount"},
    {SYS_umask, "umask"},
    {SYS_setpriority, "setpriority"},
    {SYS_ioprio_set, "ioprio_set"},
    {SYS_personality, "personality"},
    {SYS_setuid, "setuid"},
    {SYS_setgid, "setgid"},
    {SYS_setreuid, "setreuid"},
    {SYS_setregid, "setregid"},
    {SYS_setresuid, "setresuid"},
    {SYS_setresgid, "setresgid"},
    {SYS_setgroups, "setgroups"},
    {SYS_setfsuid, "setfsuid"},
    {SYS_setfsgid, "setfsgid"},
    {SYS_capset, "capset"},
    {SYS_setsid, "setsid"},
    {SYS_setpgid, "setpgid"},
    {SYS_mlock, "mlock"},
    {SYS_mlock2, "mlock2"},
    {SYS_mlockall, "mlockall"},
    {SYS_set_mempolicy, "set_mempolicy"},
    {SYS_mbind, "mbind"},
    {SYS_pkey_alloc, "pkey_alloc"},
    {SYS_pkey_mprotect, "pkey_mprotect"},
    {SYS_seccomp, "seccomp"},
    {SYS_arch_prctl, "arch_prctl"},
    {SYS_shmget, "shmget"},
    {SYS_shmat, "shmat"},
    {SYS_semget, "semget"},
    {SYS_msgget, "msgget"},
    {SYS_mq_open, "mq_open"},
    {SYS_io_setup, "io_setup"},
    {SYS_sethostname, "sethostname"},
    {SYS_setdomainname, "setdomainname"},
    {SYS_madvise, "madvise"},
    {SYS_mmap, "mmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_munmap, "munmap"},
    {SYS_mremap, "mremap"},
    {SYS_unshare, "unshare"},
    {SYS_setns, "setns"},
    {SYS_ptrace, "ptrace"},
};

const Name* find(long number) {
  for (const Name& name : kNames)
    if (name.number == number) return &name;
  return nullptr;
}

}  // namespace

std::string syscall_name(long number) {
  const Name* name = find(number);
  return name != nullptr ? name->text : fmt::format("system call {}", number);
}

std::string lasting_call(long number) {
  for (const Lasting& name : kLasting)
    if (name.number == number) return fmt::format("{}()", name.text);
  return fmt::format("system call {}", number);
}

bool syscall_takes_descriptor(long number) {
  const Name* name = find(number);
  return name != nullptr && name->descriptor;
}

std::string waiting_call(abi::WaitKind kind, std::uint64_t object) {
  const auto call = static_cast<long>(object >> 32);
  const auto number = static_cast<std::int32_t>(object);
  std::string text = syscall_name(call);
  switch (kind) {
    case abi::WaitKind::kDescriptor:
      if (syscall_takes_descriptor(call)) text += fmt::format(" of descriptor {}", number);
      return text;
    case abi::WaitKind::kFileLock:
      return fmt::format("{} of descriptor {} (a file lock)", text, number);
    case abi::WaitKind::kChild:
      return number > 0 ? fmt::format("{} for child process {}", text, number)
                        : fmt::format("{} for a child process", text);
    default:
      return "";
  }
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace clew
