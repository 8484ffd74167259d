// Calls that might block, but have nothing to wait for: wrong arguments, wrong descriptors, empty
// requests. They return at once. Also the errors of calls that are answered without the kernel.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "../conformance/help.h"
#include "fill.h"

static char buffer[1 << 17];
static int ends[2];
static void* const kBad = (void*)16;

static void make_pipe(void) { EXPECT_EQ(pipe(ends), 0); }
static void make_sockets(int type) { EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends), 0); }
static void close_ends(void) {
  close(ends[0]);
  close(ends[1]);
}

// --- the wrong direction, empty requests ---------------------------------------------------------

CASE(read, write_end) {
  make_pipe();
  EXPECT_ERRNO(read(ends[1], buffer, 1), EBADF);
  EXPECT_ERRNO(readv(ends[1], &(struct iovec){buffer, 1}, 1), EBADF);
  close_ends();
}
CASE(write, read_end) {
  make_pipe();
  EXPECT_ERRNO(write(ends[0], buffer, 1), EBADF);
  EXPECT_ERRNO(writev(ends[0], &(struct iovec){buffer, 1}, 1), EBADF);
  close_ends();
}
CASE(read, nothing) {
  make_pipe();
  EXPECT_EQ(read(ends[0], buffer, 0), 0);
  EXPECT_EQ(readv(ends[0], &(struct iovec){buffer, 0}, 1), 0);
  EXPECT_EQ(readv(ends[0], NULL, 0), 0);
  close_ends();
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(read(ends[0], buffer, 0), 0);
  EXPECT_EQ(readv(ends[0], &(struct iovec){buffer, 0}, 1), 0);
  close_ends();
  make_sockets(SOCK_DGRAM);
  EXPECT_EQ(send(ends[1], "ab", 2, 0), 2);
  EXPECT_EQ(read(ends[0], buffer, 0), 0);
  EXPECT_EQ(recv(ends[0], buffer, 10, 0), 2);  // still there
  close_ends();
}
CASE(write, nothing) {
  make_pipe();
  fill(ends[1]);
  EXPECT_EQ(write(ends[1], buffer, 0), 0);
  EXPECT_EQ(writev(ends[1], &(struct iovec){buffer, 0}, 1), 0);
  EXPECT_EQ(writev(ends[1], NULL, 0), 0);
  close_ends();
  make_sockets(SOCK_DGRAM);
  EXPECT_EQ(send(ends[1], buffer, 0, 0), 0);  // an empty message
  EXPECT_EQ(recv(ends[0], buffer, 10, 0), 0);
  EXPECT_EQ(write(ends[1], buffer, 0), 0);
  EXPECT_EQ(recv(ends[0], buffer, 10, 0), 0);
  close_ends();
}
CASE(eventfd, too_small) {
  const int fd = eventfd(0, 0);
  EXPECT_ERRNO(read(fd, buffer, 4), EINVAL);
  EXPECT_ERRNO(write(fd, buffer, 4), EINVAL);
  const uint64_t all = ~0ull;
  EXPECT_ERRNO(write(fd, &all, 8), EINVAL);
  EXPECT_ERRNO(pread(fd, buffer, 8, 0), ESPIPE);
  close(fd);
}
CASE(read, random) {
  const int fd = open("/dev/urandom", O_RDONLY);
  EXPECT_ERRNO(read(fd, kBad, 1), EFAULT);
  EXPECT_EQ(read(fd, buffer, 0), 0);
  EXPECT_EQ(read(fd, buffer, 10), 10);
  EXPECT_ERRNO(write(fd, buffer, 10), EBADF);
  close(fd);
}
CASE(write, closed_output) {
  fflush(stdout);
  const int kept = dup(1);
  close(1);
  EXPECT_ERRNO(write(1, buffer, 1), EBADF);
  EXPECT_ERRNO(printf("text") < 0 || fflush(stdout) != 0 ? -1 : 0, EBADF);
  __fpurge(stdout);
  clearerr(stdout);
  EXPECT_EQ(dup2(kept, 1), 1);
  close(kept);
}
CASE(eventfd, flags) { EXPECT_ERRNO(eventfd(0, 0x40000000), EINVAL); }
CASE(timerfd, misuse) {
  const struct itimerspec soon = {{0, 0}, {0, 1}};
  const struct itimerspec wrong = {{0, 0}, {0, 1000000000}};
  struct itimerspec got;
  EXPECT_ERRNO(timerfd_create(99, 0), EINVAL);
  EXPECT_ERRNO(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0), EINVAL);
  EXPECT_ERRNO(timerfd_create(CLOCK_MONOTONIC, 0x40000000), EINVAL);
  const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  EXPECT_ERRNO(timerfd_settime(fd, 0, &wrong, NULL), EINVAL);
  EXPECT_ERRNO(timerfd_settime(fd, 0x40000000, &soon, NULL), EINVAL);
  EXPECT_ERRNO(timerfd_settime(fd, 0, kBad, NULL), EFAULT);
  EXPECT_ERRNO(timerfd_settime(fd, 0, NULL, NULL), EFAULT);
  EXPECT_ERRNO(timerfd_settime(-1, 0, &soon, NULL), EBADF);
  EXPECT_ERRNO(timerfd_settime(555, 0, &soon, NULL), EBADF);
  EXPECT_ERRNO(timerfd_gettime(-1, &got), EBADF);
  EXPECT_ERRNO(timerfd_gettime(fd, kBad), EFAULT);
  EXPECT_ERRNO(read(fd, buffer, 4), EINVAL);
  EXPECT_ERRNO(write(fd, buffer, 8), EINVAL);
  EXPECT_ERRNO(writev(fd, &(struct iovec){buffer, 8}, 1), EINVAL);
  make_pipe();
  EXPECT_ERRNO(timerfd_settime(ends[0], 0, &soon, NULL), EINVAL);
  EXPECT_ERRNO(timerfd_gettime(ends[0], &got), EINVAL);
  close_ends();
  close(fd);
  const int now = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  EXPECT_ERRNO(read(now, buffer, 8), EAGAIN);
  close(now);
}
CASE(signalfd, misuse) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  make_pipe();
  EXPECT_ERRNO(signalfd(ends[0], &set, 0), EINVAL);
  EXPECT_ERRNO(signalfd(555, &set, 0), EBADF);
  EXPECT_ERRNO(signalfd(-1, &set, 0x40000000), EINVAL);
  EXPECT_ERRNO(signalfd(-1, kBad, 0), EFAULT);
  const int fd = signalfd(-1, &set, SFD_NONBLOCK);
  EXPECT_ERRNO(read(fd, buffer, 4), EINVAL);
  EXPECT_ERRNO(read(fd, buffer, sizeof(struct signalfd_siginfo)), EAGAIN);
  EXPECT_ERRNO(write(fd, buffer, 8), EINVAL);
  close(fd);
  close_ends();
}
CASE(readv, vector) {
  make_pipe();
  static struct iovec parts[2000];
  for (int i = 0; i < 2000; ++i) parts[i] = (struct iovec){buffer, 1};
  EXPECT_ERRNO(writev(ends[1], parts, 1025), EINVAL);
  EXPECT_ERRNO(writev(ends[1], parts, -1), EINVAL);
  EXPECT_EQ(writev(ends[1], parts, 1024), 1024);
  EXPECT_ERRNO(readv(ends[0], parts, 1025), EINVAL);
  EXPECT_ERRNO(readv(ends[0], parts, -1), EINVAL);
  EXPECT_EQ(readv(ends[0], parts, 1024), 1024);
  parts[1].iov_len = (size_t)-1;
  EXPECT_ERRNO(writev(ends[1], parts, 2), EINVAL);
  EXPECT_ERRNO(readv(ends[0], parts, 2), EINVAL);
  EXPECT_ERRNO(writev(ends[1], kBad, 1), EFAULT);
  EXPECT_ERRNO(readv(ends[0], kBad, 1), EFAULT);
  close_ends();
  make_sockets(SOCK_STREAM);
  parts[1].iov_len = 1;
  EXPECT_ERRNO(writev(ends[1], parts, 1025), EINVAL);
  EXPECT_ERRNO(writev(ends[1], parts, -1), EINVAL);
  EXPECT_ERRNO(sendmsg(ends[1], &(struct msghdr){.msg_iov = parts, .msg_iovlen = 1025}, 0),
               EMSGSIZE);
  EXPECT_ERRNO(recvmsg(ends[0], &(struct msghdr){.msg_iov = parts, .msg_iovlen = 1025}, 0),
               EMSGSIZE);
  EXPECT_ERRNO(readv(ends[0], parts, 1025), EINVAL);
  parts[1].iov_len = (size_t)-1;
  EXPECT_ERRNO(writev(ends[1], parts, 2), EINVAL);
  EXPECT_ERRNO(readv(ends[0], parts, 2), EINVAL);
  close_ends();
}
CASE(splice, misuse) {
  int other[2];
  make_pipe();
  EXPECT_EQ(pipe(other), 0);
  EXPECT_ERRNO(splice(ends[1], NULL, other[1], NULL, 1, 0), EBADF);
  EXPECT_ERRNO(splice(ends[0], NULL, other[0], NULL, 1, 0), EBADF);
  EXPECT_ERRNO(splice(ends[0], NULL, ends[1], NULL, 1, 0), EINVAL);
  EXPECT_ERRNO(splice(ends[0], &(off_t){0}, other[1], NULL, 1, 0), ESPIPE);
  EXPECT_ERRNO(tee(ends[0], ends[1], 1, 0), EINVAL);
  EXPECT_ERRNO(tee(ends[1], other[1], 1, 0), EBADF);
  EXPECT_ERRNO(tee(ends[0], 555, 1, 0), EBADF);
  EXPECT_ERRNO(sendfile(other[1], ends[0], NULL, 1), EINVAL);
  EXPECT_ERRNO(splice(ends[0], NULL, other[1], NULL, 1, 0x100), EINVAL);
  EXPECT_ERRNO(vmsplice(ends[1], kBad, 1, 0), EFAULT);
  close_ends();
  make_sockets(SOCK_STREAM);
  EXPECT_ERRNO(splice(ends[0], NULL, ends[1], NULL, 1, 0), EINVAL);
  EXPECT_ERRNO(tee(ends[0], other[1], 1, 0), EINVAL);
  EXPECT_ERRNO(sendfile(ends[0], ends[1], NULL, 1), EINVAL);
  EXPECT_ERRNO(sendfile(ends[0], 555, NULL, 1), EBADF);
  close_ends();
  close(other[0]);
  close(other[1]);
}

// --- sockets -------------------------------------------------------------------------------------

CASE(recv, error_queue) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct iovec part = {buffer, 10};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  EXPECT_ERRNO(recvmsg(fd, &message, MSG_ERRQUEUE), EAGAIN);
  EXPECT_ERRNO(recv(fd, buffer, 10, MSG_ERRQUEUE), EAGAIN);
  close(fd);
}
CASE(recv, not_connected) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_ERRNO(recv(fd, buffer, 1, 0), ENOTCONN);
  EXPECT_ERRNO(read(fd, buffer, 1), ENOTCONN);
  EXPECT_ERRNO(send(fd, buffer, 1, MSG_NOSIGNAL), EPIPE);
  EXPECT_ERRNO(recv(fd, buffer, 1, MSG_OOB), EINVAL);
  EXPECT_ERRNO(accept(fd, NULL, NULL), EINVAL);
  close(fd);
  const int local = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_ERRNO(recv(local, buffer, 1, 0), EINVAL);
  EXPECT_ERRNO(send(local, buffer, 1, MSG_NOSIGNAL), ENOTCONN);
  EXPECT_ERRNO(accept(local, NULL, NULL), EINVAL);
  close(local);
  const int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  EXPECT_ERRNO(send(datagrams, buffer, 1, 0), EDESTADDRREQ);
  EXPECT_ERRNO(
      sendto(datagrams, buffer, 100000, 0,
             (struct sockaddr*)&(struct sockaddr_in){
                 .sin_family = AF_INET, .sin_port = 1, .sin_addr = {htonl(INADDR_LOOPBACK)}},
             sizeof(struct sockaddr_in)),
      EMSGSIZE);
  EXPECT_ERRNO(accept(datagrams, NULL, NULL), EOPNOTSUPP);
  close(datagrams);
}
CASE(recv, after_shutdown) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(shutdown(ends[0], SHUT_RD), 0);
  EXPECT_EQ(recv(ends[0], buffer, 1, 0), 0);
  EXPECT_EQ(shutdown(ends[0], SHUT_WR), 0);
  EXPECT_ERRNO(send(ends[0], buffer, 1, MSG_NOSIGNAL), EPIPE);
  EXPECT_EQ(recv(ends[1], buffer, 1, 0), 0);
  close_ends();
}
CASE(accept, misuse) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct sockaddr_un any = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(fd, (const struct sockaddr*)&any, sizeof any.sun_family), 0);
  EXPECT_EQ(listen(fd, 1), 0);
  EXPECT_ERRNO(accept4(fd, NULL, NULL, 0x40000000), EINVAL);
  EXPECT_ERRNO(recv(fd, buffer, 1, 0), EINVAL);
  EXPECT_EQ(shutdown(fd, SHUT_RD), 0);
  EXPECT_ERRNO(accept(fd, NULL, NULL), EINVAL);
  close(fd);
}
// A thread that waits in accept is told when the listener is closed.
static int listener;
static void* close_listener(void* unused) {
  nap(10);
  shutdown(listener, SHUT_RD);
  close(listener);
  return unused;
}
CASE(connect, listener_goes) {
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(listener, (const struct sockaddr*)&name, sizeof name.sun_family), 0);
  EXPECT_EQ(listen(listener, 0), 0);
  socklen_t size = sizeof name;
  EXPECT_EQ(getsockname(listener, (struct sockaddr*)&name, &size), 0);
  ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  ends[1] = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(connect(ends[0], (const struct sockaddr*)&name, size), 0);
  pthread_t thread = start(close_listener, NULL);
  EXPECT_ERRNO(connect(ends[1], (const struct sockaddr*)&name, size), ECONNREFUSED);
  finish(thread);
  close_ends();
}
static void* shut_listener(void* unused) {
  nap(10);
  shutdown(listener, SHUT_RDWR);
  return unused;
}
CASE(accept, shut_down_meanwhile) {
  listener = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(listen(listener, 1), 0);
  pthread_t thread = start(shut_listener, NULL);
  EXPECT_ERRNO(accept(listener, NULL, NULL), EINVAL);
  finish(thread);
  close(listener);
}
// A time limit of the socket.
CASE(accept, timeout) {
  const struct timeval time = {0, 5000};
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(listener, (const struct sockaddr*)&name, sizeof name.sun_family), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  socklen_t size = sizeof name;
  EXPECT_EQ(getsockname(listener, (struct sockaddr*)&name, &size), 0);
  EXPECT_EQ(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), 0);
  EXPECT_ERRNO(accept(listener, NULL, NULL), EAGAIN);
  ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  ends[1] = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time), 0);
  EXPECT_EQ(connect(ends[0], (const struct sockaddr*)&name, size), 0);
  EXPECT_ERRNO(connect(ends[0], (const struct sockaddr*)&name, size), EISCONN);
  const int other = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(connect(other, (const struct sockaddr*)&name, size), 0);
  EXPECT_ERRNO(connect(ends[1], (const struct sockaddr*)&name, size), EAGAIN);
  close(other);
  close_ends();
  close(listener);
}
// A receiver without room: the sender's descriptor is ready nevertheless.
static void* receive_later(void* unused) {
  nap(10);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(recv(listener, buffer, 10, 0), 1);
  return unused;
}
CASE(sendto, receiver_full) {
  listener = socket(AF_UNIX, SOCK_DGRAM, 0);
  const int sender = socket(AF_UNIX, SOCK_DGRAM, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(listener, (const struct sockaddr*)&name, sizeof name.sun_family), 0);
  socklen_t size = sizeof name;
  EXPECT_EQ(getsockname(listener, (struct sockaddr*)&name, &size), 0);
  while (sendto(sender, "x", 1, MSG_DONTWAIT, (struct sockaddr*)&name, size) == 1) {
  }
  EXPECT_EQ(errno, EAGAIN);
  pthread_t thread = start(receive_later, NULL);
  EXPECT_EQ(sendto(sender, "x", 1, 0, (struct sockaddr*)&name, size), 1);
  finish(thread);
  close(sender);
  close(listener);
}
CASE(sockets, bad_addresses) {
  make_sockets(SOCK_STREAM);
  EXPECT_EQ(write(ends[1], "abcdef", 6), 6);
  EXPECT_ERRNO(recv(ends[0], kBad, 1, 0), EFAULT);
  EXPECT_ERRNO(read(ends[0], kBad, 1), EFAULT);
  EXPECT_ERRNO(recvmsg(ends[0], kBad, 0), EFAULT);
  EXPECT_ERRNO(send(ends[0], kBad, 1, 0), EFAULT);
  EXPECT_ERRNO(sendmsg(ends[0], kBad, 0), EFAULT);
  EXPECT_ERRNO(connect(ends[0], kBad, 10), EFAULT);
  EXPECT_ERRNO(getsockopt(ends[0], SOL_SOCKET, SO_ERROR, kBad, &(socklen_t){4}), EFAULT);
  EXPECT_ERRNO(getsockname(ends[0], kBad, &(socklen_t){4}), EFAULT);
  EXPECT_ERRNO(getsockname(ends[0], (struct sockaddr*)buffer, kBad), EFAULT);
  EXPECT_ERRNO(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, kBad, sizeof(struct timeval)), EFAULT);
  EXPECT_ERRNO(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, buffer, 1), EINVAL);
  EXPECT_ERRNO(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 1000000},
                          sizeof(struct timeval)),
               EDOM);
  EXPECT_ERRNO(socketpair(AF_UNIX, SOCK_STREAM, 0, kBad), EFAULT);
  EXPECT_ERRNO(socketpair(AF_INET, SOCK_STREAM, 0, (int[2]){0, 0}), EOPNOTSUPP);
  EXPECT_ERRNO(pipe(kBad), EFAULT);
  EXPECT_ERRNO(pipe2(ends, 0x40000000), EINVAL);
  EXPECT_EQ(recv(ends[0], buffer, 6, 0), 6);
  close_ends();
}

// --- several descriptors -------------------------------------------------------------------------

CASE(poll, misuse) {
  struct pollfd closed = {555, POLLIN, 0};
  EXPECT_EQ(poll(&closed, 1, -1), 1);
  EXPECT_EQ(closed.revents, POLLNVAL);
  EXPECT_ERRNO(poll(kBad, 1, -1), EFAULT);
  EXPECT_ERRNO(poll(&closed, (nfds_t)1 << 31, -1), EINVAL);
  EXPECT_ERRNO(ppoll(&closed, 1, &(struct timespec){0, -1}, NULL), EINVAL);
}
CASE(select, misuse) {
  fd_set set;
  const int closed = dup(0);
  close(closed);
  FD_ZERO(&set);
  FD_SET(closed, &set);
  EXPECT_ERRNO(select(closed + 1, &set, NULL, NULL, NULL), EBADF);
  EXPECT(FD_ISSET(closed, &set));
  EXPECT_ERRNO(select(-1, NULL, NULL, NULL, NULL), EINVAL);
  EXPECT_ERRNO(select(1, kBad, NULL, NULL, NULL), EFAULT);
  EXPECT_ERRNO(select(0, NULL, NULL, NULL, &(struct timeval){-1, 0}), EINVAL);
  EXPECT_ERRNO(pselect(0, NULL, NULL, NULL, &(struct timespec){0, 1000000000}, NULL), EINVAL);
}
static void* put_later(void* unused) {
  nap(10);
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  return unused;
}
// Linux's behaviour.
CASE(select, time_left) {
  make_pipe();
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  pthread_t thread = start(put_later, NULL);
  struct timeval time = {1000, 0};
  EXPECT_EQ(select(ends[0] + 1, &set, NULL, NULL, &time), 1);
  EXPECT(time.tv_sec > 900 && time.tv_sec < 1000);
  finish(thread);
  time = (struct timeval){0, 1000};
  EXPECT_EQ(select(0, NULL, NULL, NULL, &time), 0);
  EXPECT(time.tv_sec == 0 && time.tv_usec == 0);
  close_ends();
}
CASE(epoll, misuse) {
  struct epoll_event event = {.events = EPOLLIN};
  const int fd = epoll_create1(0);
  make_pipe();
  EXPECT_ERRNO(epoll_wait(fd, &event, 0, -1), EINVAL);
  EXPECT_ERRNO(epoll_wait(ends[0], &event, 1, -1), EINVAL);
  EXPECT_ERRNO(epoll_wait(555, &event, 1, -1), EBADF);
  EXPECT_ERRNO(epoll_create(0), EINVAL);
  EXPECT_ERRNO(epoll_create1(0x40000000), EINVAL);
  EXPECT_ERRNO(epoll_ctl(fd, EPOLL_CTL_ADD, fd, &event), EINVAL);
  EXPECT_ERRNO(epoll_ctl(fd, EPOLL_CTL_MOD, ends[0], &event), ENOENT);
  EXPECT_EQ(epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event), 0);
  EXPECT_ERRNO(epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event), EEXIST);
  EXPECT_ERRNO(epoll_ctl(fd, EPOLL_CTL_ADD, 555, &event), EBADF);
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_ERRNO(epoll_wait(fd, kBad, 1, -1), EFAULT);
  close(fd);
  close_ends();
}

// --- queues and sets that are removed while threads wait for them --------------------------------

static int id;
static void* remove_queue(void* unused) {
  nap(10);
  EXPECT_EQ(msgctl(id, IPC_RMID, NULL), 0);
  return unused;
}
static void* remove_set(void* unused) {
  nap(10);
  EXPECT_EQ(semctl(id, 0, IPC_RMID), 0);
  return unused;
}
static struct {
  long type;
  char text[4000];
} letter = {1, ""};
CASE(msgrcv, removed) {
  id = msgget(IPC_PRIVATE, 0600);
  pthread_t thread = start(remove_queue, NULL);
  EXPECT_ERRNO(msgrcv(id, &letter, 1, 0, 0), EIDRM);
  finish(thread);
  EXPECT_ERRNO(msgrcv(id, &letter, 1, 0, 0), EINVAL);
}
CASE(msgsnd, removed) {
  id = msgget(IPC_PRIVATE, 0600);
  while (msgsnd(id, &letter, sizeof letter.text, IPC_NOWAIT) == 0) {
  }
  EXPECT_EQ(errno, EAGAIN);
  pthread_t thread = start(remove_queue, NULL);
  EXPECT_ERRNO(msgsnd(id, &letter, sizeof letter.text, 0), EIDRM);
  finish(thread);
}
CASE(semop, removed) {
  id = semget(IPC_PRIVATE, 1, 0600);
  pthread_t thread = start(remove_set, NULL);
  EXPECT_ERRNO(semop(id, &(struct sembuf){0, -1, 0}, 1), EIDRM);
  finish(thread);
}
CASE(semop, misuse) {
  id = semget(IPC_PRIVATE, 1, 0600);
  static struct sembuf many[600];
  EXPECT_ERRNO(semop(id, many, 600), E2BIG);
  EXPECT_ERRNO(semop(id, many, 0), EINVAL);
  EXPECT_ERRNO(semop(id, &(struct sembuf){5, -1, 0}, 1), EFBIG);
  EXPECT_ERRNO(semop(id, kBad, 1), EFAULT);
  EXPECT_ERRNO(semop(id, &(struct sembuf){0, -1, IPC_NOWAIT}, 1), EAGAIN);
  EXPECT_ERRNO(semtimedop(id, &(struct sembuf){0, -1, 0}, 1, &(struct timespec){0, -1}), EINVAL);
  EXPECT_ERRNO(semtimedop(id, &(struct sembuf){0, -1, 0}, 1, &(struct timespec){0, 1000}), EAGAIN);
  for (int i = 0; i < 100; ++i) many[i] = (struct sembuf){0, (short)(i % 2 ? -1 : 1), 0};
  EXPECT_EQ(semop(id, many, 100), 0);
  EXPECT_EQ(semctl(id, 0, IPC_RMID), 0);
  EXPECT_ERRNO(semop(id, &(struct sembuf){0, -1, 0}, 1), EINVAL);
}
CASE(msgrcv, misuse) {
  id = msgget(IPC_PRIVATE, 0600);
  EXPECT_ERRNO(msgrcv(id, &letter, 1, 0, IPC_NOWAIT), ENOMSG);
  EXPECT_EQ(msgsnd(id, &letter, 100, 0), 0);
  EXPECT_ERRNO(msgrcv(id, &letter, 1, 0, 0), E2BIG);
  EXPECT_ERRNO(msgrcv(id, &letter, (size_t)-1, 0, 0), EINVAL);
  EXPECT_EQ(msgrcv(id, &letter, 1, 0, MSG_NOERROR), 1);
  letter.type = 0;
  EXPECT_ERRNO(msgsnd(id, &letter, 1, 0), EINVAL);
  letter.type = 1;
  EXPECT_ERRNO(msgsnd(id, &letter, 1 << 20, 0), EINVAL);
  EXPECT_EQ(msgctl(id, IPC_RMID, NULL), 0);
}
CASE(mq, misuse) {
  char name[40];
  sprintf(name, "/clew_misuse_%d", (int)getpid());
  const struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 10};
  const mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  EXPECT_ERRNO(mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes), EEXIST);
  const mqd_t reader = mq_open(name, O_RDONLY | O_NONBLOCK);
  mq_unlink(name);
  EXPECT_ERRNO(mq_open(name, O_RDONLY), ENOENT);
  struct timespec bad = bad_time();
  const struct timespec soon = in_ms(CLOCK_REALTIME, 5);
  EXPECT_ERRNO(mq_receive(queue, buffer, 5, NULL), EMSGSIZE);
  EXPECT_ERRNO(mq_receive(reader, buffer, 10, NULL), EAGAIN);
  EXPECT_ERRNO(mq_send(reader, buffer, 1, 0), EBADF);
  EXPECT_ERRNO(mq_send(queue, buffer, 11, 0), EMSGSIZE);
  EXPECT_ERRNO(mq_send(queue, buffer, 1, 1u << 31), EINVAL);
  EXPECT_ERRNO(mq_timedreceive(queue, buffer, 10, NULL, &bad), EINVAL);
  EXPECT_ERRNO(mq_timedreceive(queue, buffer, 10, NULL, &soon), ETIMEDOUT);
  EXPECT_EQ(mq_send(queue, "x", 1, 0), 0);
  EXPECT_ERRNO(mq_timedsend(queue, buffer, 1, 0, &soon), ETIMEDOUT);
  EXPECT_EQ(mq_receive(queue, buffer, 10, NULL), 1);
  EXPECT_ERRNO(mq_receive(555, buffer, 10, NULL), EBADF);
  mq_close(queue);
  mq_close(reader);
}
CASE(flock, misuse) {
  EXPECT_ERRNO(flock(555, LOCK_EX), EBADF);
  EXPECT_ERRNO(flock(1, LOCK_EX | LOCK_SH), EINVAL);
  const int fd = memfd_create("file", 0);
  EXPECT_ERRNO(fcntl(fd, F_SETLKW, kBad), EFAULT);
  EXPECT_ERRNO(fcntl(fd, F_SETLKW, &(struct flock){.l_type = 99}), EINVAL);
  EXPECT_ERRNO(fcntl(fd, F_OFD_SETLKW, &(struct flock){.l_type = F_WRLCK, .l_pid = 1}), EINVAL);
  EXPECT_ERRNO(fcntl(fd, 9999), EINVAL);
  EXPECT_ERRNO(fcntl(fd, F_DUPFD, -1), EINVAL);
  close(fd);
  const int reader = open("/dev/null", O_RDONLY);
  EXPECT_ERRNO(fcntl(reader, F_SETLKW, &(struct flock){.l_type = F_WRLCK}), EBADF);
  close(reader);
}

// --- answered without the kernel -----------------------------------------------------------------

CASE(time, misuse) {
  struct timespec time;
  struct itimerval interval = {{0, 0}, {0, 1000000}};
  EXPECT_ERRNO(clock_gettime(99, &time), EINVAL);
  EXPECT_ERRNO(syscall(SYS_clock_gettime, CLOCK_REALTIME, kBad), EFAULT);
  EXPECT_ERRNO(nanosleep(&(struct timespec){-1, 0}, NULL), EINVAL);
  EXPECT_ERRNO(nanosleep(kBad, NULL), EFAULT);
  EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, kBad, NULL), EFAULT);
  EXPECT_EQ(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &(struct timespec){0, 1}, NULL), EINVAL);
  EXPECT_ERRNO(setitimer(99, &interval, NULL), EINVAL);
  EXPECT_ERRNO(setitimer(ITIMER_REAL, &interval, NULL), EINVAL);
  EXPECT_ERRNO(setitimer(ITIMER_REAL, kBad, NULL), EFAULT);
  EXPECT_ERRNO(getitimer(99, &interval), EINVAL);
  EXPECT_ERRNO(getitimer(ITIMER_REAL, kBad), EFAULT);
}
CASE(timer, misuse) {
  timer_t timer;
  const struct itimerspec wrong = {{0, 0}, {0, 1000000000}};
  struct itimerspec got;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 999};
  EXPECT_ERRNO(timer_create(99, NULL, &timer), EINVAL);
  EXPECT_ERRNO(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
  event.sigev_notify = 77;
  event.sigev_signo = SIGUSR1;
  EXPECT_ERRNO(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
  event.sigev_notify = SIGEV_NONE;
  EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  EXPECT_ERRNO(timer_settime(timer, 0, &wrong, NULL), EINVAL);
  EXPECT_ERRNO(timer_settime(timer, 0, kBad, NULL), EFAULT);
  EXPECT_ERRNO(timer_settime(timer, 0, NULL, NULL), EINVAL);
  EXPECT_ERRNO(timer_gettime(timer, kBad), EFAULT);
  EXPECT_EQ(timer_delete(timer), 0);
  EXPECT_ERRNO(syscall(SYS_timer_gettime, 12345, &got), EINVAL);
  EXPECT_ERRNO(syscall(SYS_timer_delete, 12345), EINVAL);
  EXPECT_ERRNO(syscall(SYS_timer_getoverrun, 12345), EINVAL);
}
CASE(getrandom, misuse) {
  EXPECT_ERRNO(getrandom(buffer, 1, 0x100), EINVAL);
  EXPECT_ERRNO(getrandom(buffer, 1, GRND_RANDOM | 4), EINVAL);
  EXPECT_ERRNO(getrandom(kBad, 1, 0), EFAULT);
  EXPECT_EQ(getrandom(buffer, 0, 0), 0);
  EXPECT_ERRNO(getentropy(buffer, 257), EIO);
}
CASE(signals, misuse) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  EXPECT_ERRNO(sigaction(0, &action, NULL), EINVAL);
  EXPECT_ERRNO(sigaction(999, &action, NULL), EINVAL);
  EXPECT_ERRNO(sigaction(SIGKILL, &action, NULL), EINVAL);
  EXPECT_ERRNO(sigprocmask(99, &(sigset_t){0}, NULL), EINVAL);
  EXPECT_ERRNO(syscall(SYS_rt_sigprocmask, SIG_BLOCK, kBad, NULL, 8), EFAULT);
  EXPECT_ERRNO(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 7), EINVAL);
  EXPECT_ERRNO(syscall(SYS_rt_sigaction, SIGUSR1, kBad, NULL, 8), EFAULT);
  EXPECT_ERRNO(syscall(SYS_rt_sigpending, kBad, 8), EFAULT);
  EXPECT_ERRNO(syscall(SYS_rt_sigpending, buffer, 9), EINVAL);
  EXPECT_ERRNO(syscall(SYS_rt_sigsuspend, kBad, 8), EFAULT);
  EXPECT_ERRNO(syscall(SYS_rt_sigsuspend, buffer, 7), EINVAL);
  EXPECT_ERRNO(syscall(SYS_rt_sigtimedwait, kBad, NULL, NULL, 8), EFAULT);
  EXPECT_ERRNO(syscall(SYS_rt_sigtimedwait, buffer, NULL, NULL, 7), EINVAL);
  EXPECT_ERRNO(
      sigtimedwait(&(sigset_t){{1 << (SIGUSR2 - 1)}}, NULL, &(struct timespec){0, 1000000000}),
      EINVAL);
  EXPECT_ERRNO(sigtimedwait(&(sigset_t){{1 << (SIGUSR2 - 1)}}, NULL, &(struct timespec){-1, 0}),
               EINVAL);
  EXPECT_ERRNO(sigtimedwait(&(sigset_t){{1 << (SIGUSR2 - 1)}}, NULL, &(struct timespec){0, 0}),
               EAGAIN);
  EXPECT_ERRNO(kill(getpid(), 999), EINVAL);
  EXPECT_ERRNO(kill(getpid(), -1), EINVAL);
  EXPECT_ERRNO(kill(0x3fffffff, 0), ESRCH);
  EXPECT_ERRNO(sigqueue(getpid(), 999, (union sigval){0}), EINVAL);
  EXPECT_ERRNO(syscall(SYS_tgkill, getpid(), 0x3fffffff, SIGUSR1), ESRCH);
  EXPECT_ERRNO(syscall(SYS_tgkill, getpid(), -1, SIGUSR1), EINVAL);
  EXPECT_ERRNO(syscall(SYS_tgkill, getpid(), gettid(), 999), EINVAL);
  EXPECT_ERRNO(syscall(SYS_tkill, -1, SIGUSR1), EINVAL);
  EXPECT_EQ(pthread_kill(pthread_self(), 999), EINVAL);
  EXPECT_EQ(pthread_sigmask(99, &(sigset_t){0}, NULL), EINVAL);
  EXPECT_ERRNO(sigaltstack(&(stack_t){.ss_sp = buffer, .ss_size = 10}, NULL), ENOMEM);
  EXPECT_ERRNO(sigaltstack(&(stack_t){.ss_sp = buffer, .ss_size = 10000, .ss_flags = 77}, NULL),
               EINVAL);
  EXPECT_ERRNO(sigaltstack(kBad, NULL), EFAULT);
}
CASE(futex, misuse) {
  static uint32_t word[2];
  EXPECT_ERRNO(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL), EAGAIN);
  EXPECT_ERRNO(syscall(SYS_futex, kBad, FUTEX_WAIT_PRIVATE, 1, NULL), EFAULT);
  EXPECT_ERRNO(syscall(SYS_futex, (char*)word + 1, FUTEX_WAIT_PRIVATE, 0, NULL), EINVAL);
  EXPECT_ERRNO(syscall(SYS_futex, (char*)word + 1, FUTEX_WAKE_PRIVATE, 1), EINVAL);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, -1}), EINVAL);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){-1, 0}), EINVAL);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, kBad), EFAULT);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, 1000}),
               ETIMEDOUT);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 0), EINVAL);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 0), EINVAL);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1L, word + 1, 5), EAGAIN);
  EXPECT_ERRNO(syscall(SYS_futex, word, FUTEX_UNLOCK_PI_PRIVATE), EPERM);
  EXPECT_ERRNO(syscall(SYS_futex, word, 99, 0), ENOSYS);
}
CASE(wait, misuse) {
  EXPECT_ERRNO(wait(NULL), ECHILD);
  EXPECT_ERRNO(waitpid(getpid(), NULL, 0), ECHILD);
  EXPECT_ERRNO(waitpid(-1, NULL, 0x1000000), EINVAL);
  EXPECT_ERRNO(waitid(77, 0, (siginfo_t*)buffer, WEXITED), EINVAL);
  EXPECT_ERRNO(waitid(P_ALL, 0, (siginfo_t*)buffer, 0), EINVAL);
  EXPECT_ERRNO(waitid(P_PID, (id_t)getpid(), (siginfo_t*)buffer, WEXITED), ECHILD);
}
