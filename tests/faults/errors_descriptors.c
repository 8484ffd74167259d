// Calls on a descriptor, each made to fail with every error that its manual page knows: the program
// gets that error.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "filter.h"

static char buffer[64];
static struct iovec parts[2] = {{buffer, 8}, {buffer + 8, 8}};
static struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
static struct mmsghdr messages[2] = {{{.msg_iov = parts, .msg_iovlen = 1}, 0},
                                     {{.msg_iov = parts, .msg_iovlen = 1}, 0}};
static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/nowhere"};

// What the descriptor refers to. All are ready for what is done with them.
static int other = -1;  // the other end

static int file(void) {
  const int fd = memfd_create("file", 0);
  EXPECT_EQ(write(fd, "content", 7), 7);
  return fd;
}
static int input(void) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], "content", 7), 7);
  other = ends[1];
  return ends[0];
}
static int output(void) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  other = ends[0];
  return ends[1];
}
static int a_socket(int type) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends), 0);
  EXPECT_EQ(write(ends[1], "content", 7), 7);
  other = ends[1];
  return ends[0];
}
static int stream(void) { return a_socket(SOCK_STREAM); }
static int not_waiting(void) { return a_socket(SOCK_STREAM | SOCK_NONBLOCK); }
static int listener(void) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct sockaddr_un any = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(fd, (const struct sockaddr*)&any, sizeof any.sun_family), 0);
  EXPECT_EQ(listen(fd, 4), 0);
  struct sockaddr_un name;
  socklen_t size = sizeof name;
  EXPECT_EQ(getsockname(fd, (struct sockaddr*)&name, &size), 0);
  other = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(connect(other, (const struct sockaddr*)&name, size), 0);
  return fd;
}
static int fresh(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }
static int counter(void) { return eventfd(1, 0); }
static int set(void) { return epoll_create1(0); }
static int watch(void) { return inotify_init1(0); }
static int folder(void) { return open("/", O_RDONLY | O_DIRECTORY); }

// `call` uses `fd`.
#define FAILS(subject, what, source, call, ...)                   \
  CASE(subject, what) {                                           \
    static const int errors[] = {__VA_ARGS__};                    \
    other = -1;                                                   \
    const int behind = source();                                  \
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) { \
      const int fd = failing_descriptor(errors[i], behind);       \
      EXPECT_ERRNO(call, errors[i]);                              \
      close(fd);                                                  \
    }                                                             \
    close(behind);                                                \
    if (other >= 0) close(other);                                 \
  }

#define READ_ERRORS                                                                               \
  EIO, EINTR, EISDIR, EINVAL, ENOMEM, ENOBUFS, ECONNRESET, ENOTCONN, ETIMEDOUT, ENXIO, EOVERFLOW, \
      EBADF
#define WRITE_ERRORS                                                                    \
  EIO, EINTR, ENOSPC, EDQUOT, EFBIG, EINVAL, EPERM, EPIPE, ENOMEM, ENOBUFS, ECONNRESET, \
      EDESTADDRREQ, EACCES, ENETDOWN, EBADF
FAILS(read, file, file, read(fd, buffer, 4), READ_ERRORS, EAGAIN)
FAILS(read, pipe, input, read(fd, buffer, 4), READ_ERRORS)
FAILS(read, socket, stream, read(fd, buffer, 4), READ_ERRORS)
FAILS(read, socket_not_waiting, not_waiting, read(fd, buffer, 4), READ_ERRORS, EAGAIN)
FAILS(read, eventfd, counter, read(fd, buffer, 8), READ_ERRORS)
FAILS(readv, file, file, readv(fd, parts, 2), READ_ERRORS)
FAILS(readv, pipe, input, readv(fd, parts, 2), READ_ERRORS)
FAILS(readv, socket, stream, readv(fd, parts, 2), READ_ERRORS)
FAILS(pread, file, file, pread(fd, buffer, 4, 0), READ_ERRORS, ESPIPE)
FAILS(preadv, file, file, preadv(fd, parts, 2, 0), READ_ERRORS, ESPIPE)
FAILS(preadv2, file, file, preadv2(fd, parts, 2, 0, 0), READ_ERRORS, EOPNOTSUPP)
FAILS(write, file, file, write(fd, buffer, 4), WRITE_ERRORS, EAGAIN)
FAILS(write, pipe, output, write(fd, buffer, 4), WRITE_ERRORS)
FAILS(write, socket, stream, write(fd, buffer, 4), WRITE_ERRORS)
FAILS(write, socket_not_waiting, not_waiting, write(fd, buffer, 4), WRITE_ERRORS, EAGAIN)
FAILS(write, eventfd, counter, write(fd, buffer, 8), WRITE_ERRORS)
FAILS(writev, file, file, writev(fd, parts, 2), WRITE_ERRORS)
FAILS(writev, pipe, output, writev(fd, parts, 2), WRITE_ERRORS)
FAILS(writev, socket, stream, writev(fd, parts, 2), WRITE_ERRORS)
FAILS(pwrite, file, file, pwrite(fd, buffer, 4, 0), WRITE_ERRORS, ESPIPE)
FAILS(pwritev, file, file, pwritev(fd, parts, 2, 0), WRITE_ERRORS, ESPIPE)
FAILS(pwritev2, file, file, pwritev2(fd, parts, 2, 0, 0), WRITE_ERRORS, EOPNOTSUPP)
FAILS(sendfile, socket, stream, sendfile(fd, behind, NULL, 4), EIO, EINVAL, ENOMEM, EOVERFLOW,
      ESPIPE, EBADF)
FAILS(splice, pipe, input, splice(fd, NULL, other, NULL, 4, 0), EBADF, EINVAL, ENOMEM, ESPIPE)
FAILS(tee, pipe, input, tee(fd, other, 4, 0), EINVAL, ENOMEM)
FAILS(vmsplice, pipe, output, vmsplice(fd, parts, 1, 0), EBADF, EINVAL, ENOMEM)
FAILS(copy_file_range, file, file, copy_file_range(fd, NULL, behind, NULL, 4, 0), EBADF, EFBIG,
      EINVAL, EIO, ENOMEM, ENOSPC, EXDEV, ETXTBSY, EOVERFLOW, EPERM)

#define RECEIVE_ERRORS                                                                        \
  EBADF, ECONNREFUSED, EINTR, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK, ECONNRESET, ETIMEDOUT, EIO, \
      ENOBUFS
#define SEND_ERRORS                                                                             \
  EACCES, EALREADY, EBADF, ECONNRESET, EDESTADDRREQ, EINTR, EINVAL, EISCONN, EMSGSIZE, ENOBUFS, \
      ENOMEM, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPIPE, EHOSTUNREACH, ENETDOWN, ENETUNREACH
FAILS(recv, socket, stream, recv(fd, buffer, 4, 0), RECEIVE_ERRORS)
FAILS(recv, whole, stream, recv(fd, buffer, 4, MSG_WAITALL), RECEIVE_ERRORS)
FAILS(recv, dontwait, stream, recv(fd, buffer, 4, MSG_DONTWAIT), RECEIVE_ERRORS, EAGAIN)
FAILS(recvfrom, socket, stream, recvfrom(fd, buffer, 4, 0, NULL, NULL), RECEIVE_ERRORS)
FAILS(recvmsg, socket, stream, recvmsg(fd, &message, 0), RECEIVE_ERRORS, EMSGSIZE)
FAILS(recvmmsg, socket, stream, recvmmsg(fd, messages, 2, 0, NULL), RECEIVE_ERRORS)
FAILS(send, socket, stream, send(fd, buffer, 4, 0), SEND_ERRORS)
FAILS(send, dontwait, stream, send(fd, buffer, 4, MSG_DONTWAIT), SEND_ERRORS, EAGAIN)
FAILS(sendto, socket, stream, sendto(fd, buffer, 4, 0, NULL, 0), SEND_ERRORS)
FAILS(sendmsg, socket, stream, sendmsg(fd, &message, 0), SEND_ERRORS)
FAILS(sendmmsg, socket, stream, sendmmsg(fd, messages, 2, 0), SEND_ERRORS)
#define ACCEPT_ERRORS                                                                        \
  EBADF, ECONNABORTED, EINTR, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOTSOCK, EOPNOTSUPP, \
      EPERM, EPROTO
FAILS(accept, socket, listener, accept(fd, NULL, NULL), ACCEPT_ERRORS)
FAILS(accept4, socket, listener, accept4(fd, NULL, NULL, SOCK_CLOEXEC), ACCEPT_ERRORS)
// Not EALREADY: a blocking descriptor never gives it.
FAILS(connect, socket, fresh, connect(fd, (struct sockaddr*)&address, sizeof address), EACCES,
      EPERM, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EBADF, ECONNREFUSED, EINTR, EISCONN,
      ENETUNREACH, ENOTSOCK, EPROTOTYPE, ETIMEDOUT, EHOSTUNREACH, ENOBUFS, ECONNRESET)
FAILS(bind, socket, fresh, bind(fd, (struct sockaddr*)&address, sizeof address), EACCES, EADDRINUSE,
      EADDRNOTAVAIL, EINVAL, ENOMEM, ENOTSOCK, EROFS, ELOOP)
FAILS(listen, socket, fresh, listen(fd, 1), EADDRINUSE, ENOTSOCK, EOPNOTSUPP, EACCES, ENOBUFS)
FAILS(shutdown, socket, stream, shutdown(fd, SHUT_RD), EINVAL, ENOTCONN, ENOTSOCK, ENOBUFS)
FAILS(getsockname, socket, stream,
      getsockname(fd, (struct sockaddr*)&address, &(socklen_t){sizeof address}), ENOBUFS, EINVAL)
FAILS(getpeername, socket, stream,
      getpeername(fd, (struct sockaddr*)&address, &(socklen_t){sizeof address}), ENOBUFS, ENOTCONN)
FAILS(getsockopt, socket, stream, getsockopt(fd, SOL_SOCKET, SO_ERROR, buffer, &(socklen_t){4}),
      ENOPROTOOPT, EINVAL)
FAILS(setsockopt, socket, stream,
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1, 0}, sizeof(struct timeval)),
      EDOM, ENOPROTOOPT, ENOMEM)

FAILS(epoll_wait, epoll, set, epoll_wait(fd, (struct epoll_event*)buffer, 1, 0), EBADF, EINTR,
      EINVAL)
FAILS(epoll_pwait, epoll, set, epoll_pwait(fd, (struct epoll_event*)buffer, 1, -1, NULL), EBADF,
      EINTR, EINVAL)
FAILS(epoll_ctl, epoll, set, epoll_ctl(fd, EPOLL_CTL_ADD, 0, (struct epoll_event*)buffer), EEXIST,
      ENOMEM, ENOSPC, EPERM, ELOOP)
FAILS(inotify_add_watch, inotify, watch, inotify_add_watch(fd, "/", IN_CREATE), EACCES, ENOMEM,
      ENOSPC, ENOENT)
FAILS(inotify_rm_watch, inotify, watch, inotify_rm_watch(fd, 1), EINVAL, EBADF)
FAILS(dup, file, file, dup(fd), EMFILE, ENFILE, EBADF)
FAILS(dup2, file, file, dup2(fd, 599), EBUSY, EINTR, EMFILE)
FAILS(dup3, file, file, dup3(fd, 599, O_CLOEXEC), EBUSY, EINTR, EMFILE)
FAILS(flock, file, file, flock(fd, LOCK_EX), EBADF, EINTR, ENOLCK, EINVAL)
FAILS(lseek, file, file, lseek(fd, 0, SEEK_SET), EINVAL, ENXIO, EOVERFLOW, ESPIPE)
FAILS(ioctl, pipe, input, ioctl(fd, FIONREAD, buffer), ENOTTY, EINVAL, EIO)
FAILS(ftruncate, file, file, ftruncate(fd, 1), EFBIG, EINTR, EINVAL, EIO, EPERM, EROFS)
FAILS(fallocate, file, file, fallocate(fd, 0, 0, 10), EFBIG, EINTR, EIO, ENODEV, ENOSPC, EOPNOTSUPP)
FAILS(fsync, file, file, fsync(fd), EIO, ENOSPC, EDQUOT, EROFS, EINTR)
FAILS(fdatasync, file, file, fdatasync(fd), EIO, ENOSPC, EDQUOT, EROFS, EINTR)
FAILS(syncfs, file, file, syncfs(fd), EIO, ENOSPC, EDQUOT)
FAILS(fchmod, file, file, fchmod(fd, 0600), EIO, EPERM, EROFS)
FAILS(fchown, file, file, fchown(fd, 0, 0), EIO, EPERM, EROFS)
FAILS(fchdir, folder, folder, fchdir(fd), EACCES, ENOTDIR)
FAILS(fstatfs, file, file, fstatfs(fd, (struct statfs*)(char[sizeof(struct statfs)]){0}), EIO,
      ENOSYS, ENOMEM)
FAILS(getdents, folder, folder, getdents64(fd, buffer, sizeof buffer), EIO, ENOENT, ENOTDIR, EINVAL)
FAILS(fgetxattr, file, file, fgetxattr(fd, "user.a", buffer, 1), ENODATA, EOPNOTSUPP, ERANGE)
FAILS(fsetxattr, file, file, fsetxattr(fd, "user.a", buffer, 1, 0), EDQUOT, ENOSPC, EEXIST)
FAILS(mkdirat, folder, folder, mkdirat(fd, "a", 0700), EACCES, EDQUOT, EMLINK, ENOSPC, EROFS)
FAILS(unlinkat, folder, folder, unlinkat(fd, "a", 0), EACCES, EBUSY, EROFS)
FAILS(openat, folder, folder, openat(fd, "dev/null", O_RDWR), EACCES, EDQUOT, EINTR, EMFILE, ENFILE,
      ENOMEM, ENOSPC, EROFS, ETXTBSY, ENODEV)

CASE(mmap, file) {
  static const int errors[] = {EACCES, EAGAIN, EBADF, EINVAL, ENFILE, ENODEV, ENOMEM, EPERM};
  const int behind = file();
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    const int fd = failing_descriptor(errors[i], behind);
    EXPECT_ERRNO((long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), errors[i]);
    close(fd);
  }
  close(behind);
}

// Calls that inspect the descriptor, change it or close it. Nothing can be found out about such a
// descriptor; a read from it fails like everything else.
#define FAILS_FULLY(subject, what, source, call, ...)             \
  CASE(subject, what) {                                           \
    static const int errors[] = {__VA_ARGS__};                    \
    other = -1;                                                   \
    const int behind = source();                                  \
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) { \
      const int fd = fully_failing_descriptor(errors[i], behind); \
      EXPECT_ERRNO(call, errors[i]);                              \
      EXPECT_EQ(dup2(fileno(stdin), fd), fd);                     \
    }                                                             \
    close(behind);                                                \
    if (other >= 0) close(other);                                 \
  }
FAILS_FULLY(close, file, file, close(fd), EIO, EINTR, ENOSPC, EDQUOT)
FAILS_FULLY(close, pipe, input, close(fd), EIO, EINTR)
FAILS_FULLY(close, socket, stream, close(fd), EIO, EINTR)
FAILS_FULLY(fcntl, getfl, stream, fcntl(fd, F_GETFL), EBADF, EINVAL)
FAILS_FULLY(fcntl, setfl, stream, fcntl(fd, F_SETFL, O_NONBLOCK), EBADF, EPERM)
FAILS_FULLY(fcntl, dupfd, stream, fcntl(fd, F_DUPFD, 700), EMFILE, EINVAL)
FAILS_FULLY(fcntl, setlk, file, fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK}), EACCES,
            EAGAIN, ENOLCK, EINVAL)
FAILS_FULLY(fcntl, setlkw, file, fcntl(fd, F_SETLKW, &(struct flock){.l_type = F_WRLCK}), EDEADLK,
            EINTR, ENOLCK, EINVAL)
FAILS_FULLY(fcntl, ofd_setlkw, file, fcntl(fd, F_OFD_SETLKW, &(struct flock){.l_type = F_WRLCK}),
            EINTR, ENOLCK, EINVAL)
FAILS_FULLY(fstat, file, file, fstat(fd, (struct stat*)(char[sizeof(struct stat)]){0}), EIO, ENOMEM,
            EOVERFLOW)
FAILS_FULLY(read, unknown, stream, read(fd, buffer, 1), EIO, EINTR)
FAILS_FULLY(write, unknown, stream, write(fd, buffer, 1), EIO, EINTR, ENOSPC)
FAILS_FULLY(accept, unknown, listener, accept(fd, NULL, NULL), EMFILE, ENOBUFS)
FAILS_FULLY(connect, unknown, fresh, connect(fd, (struct sockaddr*)&address, sizeof address),
            ECONNREFUSED, ETIMEDOUT)
FAILS_FULLY(sendfile, unknown, stream, sendfile(fd, behind, NULL, 4), EIO, EINVAL)

// --- what libc does on top -----------------------------------------------------------------------

CASE(fread, eio) {
  const int behind = file();
  FILE* stream_ = fdopen(failing_descriptor(EIO, behind), "r");
  errno = 0;
  EXPECT_EQ(fread(buffer, 1, 4, stream_), 0);
  EXPECT(errno == EIO && ferror(stream_) && !feof(stream_));
  clearerr(stream_);
  EXPECT_EQ(fgetc(stream_), EOF);
  EXPECT(ferror(stream_));
  EXPECT_EQ(fclose(stream_), 0);
  close(behind);
}

static void written_fails(int error) {
  const int behind = file();
  FILE* stream_ = fdopen(failing_descriptor(error, behind), "w");
  EXPECT_EQ(fwrite(buffer, 1, 4, stream_), 4);
  errno = 0;
  EXPECT_EQ(fflush(stream_), EOF);
  EXPECT(errno == error && ferror(stream_));
  clearerr(stream_);
  EXPECT_EQ(fputs("again", stream_) >= 0, 1);
  errno = 0;
  EXPECT_EQ(fclose(stream_), EOF);
  EXPECT_EQ(errno, error);
  close(behind);
}
CASE(fwrite, eio) { written_fails(EIO); }
CASE(fwrite, enospc) { written_fails(ENOSPC); }
CASE(fwrite, edquot) { written_fails(EDQUOT); }
CASE(fwrite, eintr) { written_fails(EINTR); }

CASE(readdir, eio) {
  const int behind = folder();
  DIR* entries = fdopendir(failing_descriptor(EIO, behind));
  EXPECT(entries != NULL);
  errno = 0;
  EXPECT(readdir(entries) == NULL && errno == EIO);
  closedir(entries);
  close(behind);
}

CASE(dprintf, eio) {
  const int behind = file();
  EXPECT_ERRNO(dprintf(failing_descriptor(EIO, behind), "text"), EIO);
  close(kDescriptors + EIO);
  close(behind);
}
