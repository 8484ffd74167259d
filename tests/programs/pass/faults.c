/* Calls that fail: the error that the program gets, and that it can continue afterwards.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

#define FAILS(call, error)                                                        \
  do {                                                                            \
    errno = 0;                                                                    \
    const long result_ = (long)(call);                                            \
    if (result_ != -1 || errno != (error)) {                                      \
      fprintf(stderr, "%s:%d: %s: %ld, %s\n", __FILE__, __LINE__, #call, result_, \
              strerrorname_np(errno));                                            \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

static char buffer[1 << 17];

static void test_bad_descriptors(void) {
  struct iovec part = {buffer, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  struct epoll_event event = {0};
  struct itimerspec timer = {{0, 0}, {0, 1}};
  struct sockaddr_in address = {.sin_family = AF_INET};
  FAILS(read(-1, buffer, 1), EBADF);
  FAILS(write(-1, buffer, 1), EBADF);
  FAILS(readv(-1, &part, 1), EBADF);
  FAILS(writev(-1, &part, 1), EBADF);
  FAILS(pread(-1, buffer, 1, 0), EBADF);
  FAILS(pwrite(-1, buffer, 1, 0), EBADF);
  FAILS(recv(-1, buffer, 1, 0), EBADF);
  FAILS(send(-1, buffer, 1, 0), EBADF);
  FAILS(recvmsg(-1, &message, 0), EBADF);
  FAILS(sendmsg(-1, &message, 0), EBADF);
  FAILS(accept(-1, NULL, NULL), EBADF);
  FAILS(connect(-1, (struct sockaddr*)&address, sizeof address), EBADF);
  FAILS(close(-1), EBADF);
  FAILS(dup(-1), EBADF);
  FAILS(fcntl(-1, F_GETFL), EBADF);
  FAILS(flock(-1, LOCK_EX), EBADF);
  FAILS(epoll_wait(-1, &event, 1, 0), EBADF);
  FAILS(lseek(-1, 0, SEEK_SET), EBADF);
  FAILS(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 999, 0), EBADF);
  const int fd = eventfd(0, 0);
  FAILS(accept(fd, NULL, NULL), ENOTSOCK);
  FAILS(recv(fd, buffer, 1, 0), ENOTSOCK);
  FAILS(timerfd_settime(fd, 0, &timer, NULL), EINVAL);
  FAILS(epoll_wait(fd, &event, 1, 0), EINVAL);
  close(fd);
  FAILS(open("/nowhere/at/all", O_RDONLY), ENOENT);
  FAILS(open("/", O_WRONLY), EISDIR);
  FAILS(waitpid(-1, NULL, 0), ECHILD);
  FAILS(kill(getpid(), 1000), EINVAL);
  const struct timespec bad = {0, 1000000000};
  FAILS(nanosleep(&bad, NULL), EINVAL);
  CHECK(clock_nanosleep(99, 0, &bad, NULL) == EINVAL);
}

static void test_not_ready(void) {
  int ends[2];
  CHECK(pipe2(ends, O_NONBLOCK) == 0);
  FAILS(read(ends[0], buffer, 1), EAGAIN);
  long total = 0, n;
  while ((n = write(ends[1], buffer, sizeof buffer)) > 0) total += n;
  CHECK(n == -1 && errno == EAGAIN && total > 0);
  long back = 0;
  while ((n = read(ends[0], buffer, 5000)) > 0) back += n; /* short at the end */
  CHECK(n == -1 && errno == EAGAIN && back == total);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  FAILS(write(ends[1], buffer, 1), EPIPE);
  close(ends[1]);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  FAILS(recv(ends[0], buffer, 1, 0), EAGAIN);
  total = 0;
  while ((n = send(ends[1], buffer, sizeof buffer, 0)) > 0) total += n;
  CHECK(n == -1 && errno == EAGAIN && total > 0);
  close(ends[0]);
  FAILS(send(ends[1], buffer, 1, MSG_NOSIGNAL), EPIPE);
  close(ends[1]);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  CHECK(bind(listener, (struct sockaddr*)&address, sizeof address) == 0);
  FAILS(accept(listener, NULL, NULL), EINVAL);
  CHECK(listen(listener, 1) == 0);
  FAILS(accept(listener, NULL, NULL), EAGAIN);
  socklen_t size = sizeof address;
  CHECK(getsockname(listener, (struct sockaddr*)&address, &size) == 0);
  close(listener);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  FAILS(connect(client, (struct sockaddr*)&address, sizeof address), ECONNREFUSED);
  FAILS(send(client, buffer, 1, MSG_NOSIGNAL), EPIPE);
  close(client);
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/nowhere/at/all"};
  const int other = socket(AF_UNIX, SOCK_STREAM, 0);
  FAILS(connect(other, (struct sockaddr*)&local, sizeof local), ENOENT);
  close(other);
  const int full = open("/dev/full", O_WRONLY);
  CHECK(full >= 0);
  FAILS(write(full, buffer, 1), ENOSPC);
  close(full);
}

static volatile sig_atomic_t over;
static int kind, ends[2], result, error;
static void* wait_for_ever(void* unused) {
  struct pollfd one = {ends[0], POLLIN, 0};
  struct epoll_event event = {.events = EPOLLIN};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  const struct timespec long_time = {1000, 0};
  const int epoll = epoll_create1(0);
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
  errno = 0;
  switch (kind) {
    case 0:
      result = (int)read(ends[0], buffer, 1);
      break;
    case 1:
      result = (int)recv(ends[0], buffer, 1, 0);
      break;
    case 2:
      result = poll(&one, 1, -1);
      break;
    case 3:
      result = select(ends[0] + 1, &set, NULL, NULL, NULL);
      break;
    case 4:
      result = epoll_wait(epoll, &event, 1, -1);
      break;
    case 5:
      do result = nanosleep(&long_time, NULL); /* the signals may be late */
      while (result == 0);
      break;
    case 6:
      result = pause();
      break;
    case 7:
      result = (int)write(ends[0], buffer, sizeof buffer);
      break;
  }
  error = errno;
  over = 1;
  close(epoll);
  return unused;
}

static void on_signal(int number) { (void)number; }

/* A handler without SA_RESTART ends each of them. */
static void test_interrupted(void) {
  struct sigaction action = {.sa_handler = on_signal};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  for (kind = 0; kind < 8; ++kind) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    if (kind == 7) { /* almost full: what fits is written */
      const int flags = fcntl(ends[0], F_GETFL);
      CHECK(fcntl(ends[0], F_SETFL, flags | O_NONBLOCK) == 0);
      while (write(ends[0], buffer, 4096) > 0) {
      }
      CHECK(fcntl(ends[0], F_SETFL, flags) == 0);
    }
    over = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    while (!over) { /* the first may come before it waits */
      CHECK(pthread_kill(thread, SIGUSR1) == 0);
      usleep(10000);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    if (result != -1 || error != EINTR) {
      fprintf(stderr, "kind %d: %d, %s\n", kind, result, strerrorname_np(error));
      exit(1);
    }
    close(ends[0]);
    close(ends[1]);
  }
}

static void* nothing(void* unused) { return unused; }

static void test_limits(void) {
  struct rlimit before, none;
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = 0;
  int pair[2];
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  FAILS(pipe(pair), EMFILE);
  FAILS(socket(AF_UNIX, SOCK_STREAM, 0), EMFILE);
  FAILS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), EMFILE);
  FAILS(open("/dev/null", O_RDONLY), EMFILE);
  FAILS(dup(1), EMFILE);
  FAILS(eventfd(0, 0), EMFILE);
  FAILS(epoll_create1(0), EMFILE);
  FAILS(timerfd_create(CLOCK_MONOTONIC, 0), EMFILE);
  CHECK(fopen("/dev/null", "r") == NULL && errno == EMFILE);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  FAILS(mmap(NULL, (size_t)1 << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, (size_t)1 << 46) == 0);
  CHECK(pthread_create(&thread, &attributes, nothing, NULL) == EAGAIN);
  CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  timer_t timer;
  FAILS(timer_create(99, &event, &timer), EINVAL);
}

int main(void) {
  test_bad_descriptors();
  test_not_ready();
  test_interrupted();
  test_limits();
  puts("ok");
  return 0;
}
