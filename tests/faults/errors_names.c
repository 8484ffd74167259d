// Calls with the name of a file, with a buffer to fill, and with numbers only, each made to fail
// with every error that its manual page knows: the program gets that error.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

#include "filter.h"

static char buffer[512];

// `call` uses `path`, `place` (an address with room for 4096 bytes) or `number`.
#define FAILS(subject, what, call, ...)                           \
  CASE(subject, what) {                                           \
    static const int errors[] = {__VA_ARGS__};                    \
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) { \
      const char* const path = failing_path(errors[i]);           \
      void* const place = failing_address(errors[i]);             \
      const int number = failing_number(errors[i]);               \
      (void)path, (void)place, (void)number;                      \
      EXPECT_ERRNO((long)(call), errors[i]);                      \
    }                                                             \
  }

#define PATH_ERRORS EACCES, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EIO, ENOMEM
#define CHANGE_ERRORS PATH_ERRORS, EROFS, EPERM, ENOSPC, EDQUOT, EBUSY
FAILS(open, reading, open(path, O_RDONLY), PATH_ERRORS, EINTR, EMFILE, ENFILE, ENXIO, ENODEV,
      EOVERFLOW, ETXTBSY, EAGAIN)
FAILS(open, writing, open(path, O_WRONLY), CHANGE_ERRORS, EINTR, EISDIR, EMFILE, ENFILE, ENXIO,
      ETXTBSY, EAGAIN)
FAILS(open, both, open(path, O_RDWR), CHANGE_ERRORS, EINTR, EISDIR, ETXTBSY)
FAILS(open, creating, open(path, O_CREAT | O_EXCL | O_WRONLY, 0600), CHANGE_ERRORS, EEXIST)
FAILS(creat, name, creat(path, 0600), CHANGE_ERRORS, EISDIR)
FAILS(openat, name, openat(AT_FDCWD, path, O_RDONLY), PATH_ERRORS, EMFILE, EINTR)
FAILS(access, name, access(path, R_OK), PATH_ERRORS, EROFS, ETXTBSY)
FAILS(faccessat, name, faccessat(AT_FDCWD, path, R_OK, 0), PATH_ERRORS)
FAILS(stat, name, stat(path, (struct stat*)buffer), PATH_ERRORS, EOVERFLOW)
FAILS(lstat, name, lstat(path, (struct stat*)buffer), PATH_ERRORS)
FAILS(statfs, name, statfs(path, (struct statfs*)buffer), PATH_ERRORS, ENOSYS)
FAILS(readlink, name, readlink(path, buffer, 10), PATH_ERRORS, EINVAL)
FAILS(chdir, name, chdir(path), PATH_ERRORS)
FAILS(chmod, name, chmod(path, 0600), CHANGE_ERRORS)
FAILS(chown, name, chown(path, 0, 0), CHANGE_ERRORS)
FAILS(truncate, name, truncate(path, 0), CHANGE_ERRORS, EFBIG, EINTR, EISDIR, ETXTBSY)
FAILS(mkdir, name, mkdir(path, 0700), CHANGE_ERRORS, EEXIST, EMLINK)
FAILS(rmdir, name, rmdir(path), CHANGE_ERRORS, ENOTEMPTY, EINVAL)
FAILS(unlink, name, unlink(path), CHANGE_ERRORS, EISDIR)
FAILS(rename, name, rename(path, "b"), CHANGE_ERRORS, EXDEV, ENOTEMPTY, EISDIR)
FAILS(link, name, link(path, "b"), CHANGE_ERRORS, EXDEV, EEXIST, EMLINK)
FAILS(symlink, name, symlink("b", path), CHANGE_ERRORS, EEXIST)
FAILS(mknod, name, mknod(path, S_IFREG | 0600, 0), CHANGE_ERRORS, EEXIST)
FAILS(mkfifo, name, mkfifo(path, 0600), CHANGE_ERRORS, EEXIST)
FAILS(utime, name, utime(path, NULL), PATH_ERRORS, EPERM, EROFS)
FAILS(utimensat, name, utimensat(AT_FDCWD, path, NULL, 0), PATH_ERRORS, EPERM, EROFS)
FAILS(getxattr, name, getxattr(path, "user.a", buffer, 1), ENODATA, EOPNOTSUPP, ERANGE)
FAILS(setxattr, name, setxattr(path, "user.a", buffer, 1, 0), EDQUOT, ENOSPC, EEXIST, EPERM)
FAILS(listxattr, name, listxattr(path, buffer, 1), EOPNOTSUPP, ERANGE, E2BIG)
FAILS(memfd_create, name, memfd_create(path, 0), EMFILE, ENFILE, ENOMEM, EINVAL)

FAILS(getcwd, buffer, getcwd(place, 100) != NULL ? 0 : -1, EACCES, ENOENT, ENOMEM)
FAILS(pipe, buffer, pipe(place), EMFILE, ENFILE, EINVAL)
FAILS(pipe2, buffer, pipe2(place, O_CLOEXEC), EMFILE, ENFILE, EINVAL)
FAILS(socketpair, buffer, socketpair(AF_UNIX, SOCK_STREAM, 0, place), EMFILE, ENFILE, EAFNOSUPPORT,
      EOPNOTSUPP, EPROTONOSUPPORT, ENOMEM)
FAILS(uname, buffer, uname(place), EFAULT)
FAILS(poll, buffer, poll(place, 0, -1), EINTR, EINVAL, ENOMEM, EAGAIN)
FAILS(ppoll, buffer, ppoll(place, 0, NULL, NULL), EINTR, EINVAL, ENOMEM)
FAILS(select, buffer, select(1, place, NULL, NULL, NULL), EBADF, EINTR, EINVAL, ENOMEM)
FAILS(pselect, buffer, pselect(1, place, NULL, NULL, NULL, NULL), EBADF, EINTR, EINVAL, ENOMEM)
FAILS(epoll_wait, buffer, epoll_wait(0, place, 1, -1), EBADF, EINTR, EINVAL)
FAILS(getgroups, buffer, getgroups(10, place), EINVAL)
FAILS(getrlimit, buffer, syscall(SYS_getrlimit, RLIMIT_NOFILE, place), EINVAL)
FAILS(sysinfo, buffer, sysinfo(place), EFAULT)
FAILS(mprotect, buffer, mprotect(place, 4096, PROT_READ), EACCES, EINVAL, ENOMEM)
FAILS(munmap, buffer, munmap(place, 4096), EINVAL, ENOMEM)
FAILS(mremap, buffer, (long)mremap(place, 4096, 8192, MREMAP_MAYMOVE), EAGAIN, EFAULT, EINVAL,
      ENOMEM)
FAILS(madvise, buffer, madvise(place, 4096, MADV_NORMAL), EACCES, EAGAIN, EBADF, EINVAL, EIO,
      ENOMEM, EPERM)
FAILS(msync, buffer, msync(place, 4096, MS_SYNC), EBUSY, EINVAL, ENOMEM)
FAILS(mlock, buffer, mlock(place, 4096), EAGAIN, EINVAL, ENOMEM, EPERM)
FAILS(munlock, buffer, munlock(place, 4096), EAGAIN, EINVAL, ENOMEM)

FAILS(socket, number, socket(number, SOCK_STREAM, 0), EACCES, EAFNOSUPPORT, EINVAL, EMFILE, ENFILE,
      ENOBUFS, ENOMEM, EPROTONOSUPPORT)
FAILS(eventfd, number, eventfd((unsigned)number, 0), EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM)
FAILS(epoll_create1, number, epoll_create1(number), EINVAL, EMFILE, ENFILE, ENOMEM)
FAILS(inotify_init1, number, inotify_init1(number), EINVAL, EMFILE, ENFILE, ENOMEM)
FAILS(msgget, number, msgget(number, 0), EACCES, EEXIST, ENOENT, ENOMEM, ENOSPC)
FAILS(msgsnd, number, msgsnd(number, buffer, 1, 0), EACCES, EFAULT, EIDRM, EINTR, EINVAL, ENOMEM)
FAILS(msgsnd, nowait, msgsnd(number, buffer, 1, IPC_NOWAIT), EAGAIN, EACCES, ENOMEM)
FAILS(msgrcv, number, msgrcv(number, buffer, 1, 0, 0), E2BIG, EACCES, EFAULT, EIDRM, EINTR, EINVAL,
      ENOSYS)
FAILS(msgrcv, nowait, msgrcv(number, buffer, 1, 0, IPC_NOWAIT), ENOMSG, E2BIG, EIDRM)
FAILS(msgctl, number, msgctl(number, IPC_RMID, NULL), EACCES, EFAULT, EIDRM, EINVAL, EPERM)
FAILS(semget, number, semget(number, 1, 0), EACCES, EEXIST, EINVAL, ENOENT, ENOMEM, ENOSPC)
FAILS(semop, number, semop(number, &(struct sembuf){0, 1, 0}, 1), E2BIG, EACCES, EFAULT, EFBIG,
      EIDRM, EINTR, EINVAL, ENOMEM, ERANGE)
FAILS(semop, nowait, semop(number, &(struct sembuf){0, 1, IPC_NOWAIT}, 1), EAGAIN, ERANGE)
FAILS(semtimedop, number,
      semtimedop(number, &(struct sembuf){0, 1, 0}, 1, &(struct timespec){1, 0}), EINTR, ERANGE,
      EINVAL)
FAILS(semctl, number, semctl(number, 0, IPC_RMID), EACCES, EIDRM, EINVAL, EPERM, ERANGE)
FAILS(shmget, number, shmget(number, 4096, 0), EACCES, EEXIST, EINVAL, ENFILE, ENOENT, ENOMEM,
      ENOSPC)
FAILS(shmctl, number, shmctl(number, IPC_RMID, NULL), EACCES, EIDRM, EINVAL, ENOMEM, EPERM)
FAILS(shmat, number, (long)shmat(number, NULL, 0), EACCES, EIDRM, EINVAL, ENOMEM)
FAILS(kill, number, kill(number, SIGUSR1), EPERM, ESRCH)
FAILS(getpgid, number, getpgid(number), ESRCH)
FAILS(setpgid, number, setpgid(number, 0), EACCES, EINVAL, EPERM, ESRCH)
FAILS(getsid, number, getsid(number), EPERM, ESRCH)
FAILS(getpriority, number, getpriority(PRIO_PROCESS, (id_t)number), ESRCH, EINVAL)
FAILS(waitpid, number, waitpid(number, NULL, WNOHANG), ECHILD, EINTR, EINVAL)
FAILS(waitpid, waiting, waitpid(number, NULL, 0), ECHILD, EINTR, EINVAL)
FAILS(waitid, number, waitid(P_PID, (id_t)number, (siginfo_t*)buffer, WEXITED), ECHILD, EINTR,
      EINVAL)
FAILS(sched_getscheduler, number, sched_getscheduler(number), EPERM, ESRCH)
FAILS(prlimit, number, prlimit(number, RLIMIT_NOFILE, NULL, (struct rlimit*)buffer), EPERM, ESRCH,
      EINVAL)
FAILS(pidfd_open, number, syscall(SYS_pidfd_open, number, 0), EMFILE, ENFILE, ENODEV, ENOMEM, ESRCH)

// --- what libc does on top -----------------------------------------------------------------------

#define NULL_WITH(call, error)                                         \
  do {                                                                 \
    errno = 0;                                                         \
    EXPECT((call) == NULL);                                            \
    expect_equal(__FILE__, __LINE__, "errno of " #call, errno, error); \
  } while (0)

CASE(fopen, errors) {
  static const int errors[] = {EACCES, EMFILE, ENFILE, ENOMEM, EINTR, ENOSPC, EROFS};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    NULL_WITH(fopen(failing_path(errors[i]), "r"), errors[i]);
    NULL_WITH(fopen(failing_path(errors[i]), "w"), errors[i]);
    NULL_WITH(fopen(failing_path(errors[i]), "a+"), errors[i]);
  }
}
CASE(opendir, errors) {
  static const int errors[] = {EACCES, EMFILE, ENFILE, ENOMEM, ENOENT};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    NULL_WITH(opendir(failing_path(errors[i])), errors[i]);
}
CASE(freopen, errors) {
  FILE* file = fopen("/dev/null", "r");
  NULL_WITH(freopen(failing_path(EACCES), "r", file), EACCES);
}
CASE(mkstemp, errors) {
  static const int errors[] = {EACCES, EMFILE, ENOSPC, EROFS, EDQUOT};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    char* name = strcpy(failing_address(errors[i]), "/tmp/aXXXXXX");
    EXPECT_ERRNO(mkstemp(name), errors[i]);
    strcpy(name, "/tmp/aXXXXXX");
    NULL_WITH(mkdtemp(name), errors[i]);
  }
}

// --- memory --------------------------------------------------------------------------------------

static void* nothing(void* argument) { return argument; }

CASE(mmap, anonymous_enomem) {
  EXPECT_ERRNO((long)mmap(NULL, kFailingSize + 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
               ENOMEM);
}
CASE(pthread_create, eagain) {
  pthread_attr_t attributes;
  pthread_t thread;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, kFailingSize + 0x100000), 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(pthread_create(&thread, &attributes, nothing, NULL), EAGAIN);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, 0x100000), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, nothing, NULL), 0);
  EXPECT_EQ(pthread_join(thread, NULL), 0);
}
