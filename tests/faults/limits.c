// Scarce resources: descriptors, memory, room in files and on disks, timers. The program gets the
// error, and continues when the limit is lifted.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "../conformance/help.h"

static char buffer[1 << 16];

static struct rlimit limited(int what, rlim_t to) {
  struct rlimit before;
  EXPECT_EQ(getrlimit(what, &before), 0);
  const struct rlimit limit = {to, before.rlim_max};
  EXPECT_EQ(setrlimit(what, &limit), 0);
  return before;
}
static void unlimited(int what, struct rlimit before) { EXPECT_EQ(setrlimit(what, &before), 0); }
// The descriptors that are open now may stay open.
static struct rlimit no_more_descriptors(void) {
  const int next = dup(0);
  close(next);
  return limited(RLIMIT_NOFILE, (rlim_t)next);
}
static void* nothing(void* argument) { return argument; }

#define NULL_WITH(call, error)                                         \
  do {                                                                 \
    errno = 0;                                                         \
    EXPECT((call) == NULL);                                            \
    expect_equal(__FILE__, __LINE__, "errno of " #call, errno, error); \
  } while (0)

// --- descriptors ---------------------------------------------------------------------------------

static int listener_with_connection(int* other) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(fd, (const struct sockaddr*)&name, sizeof name.sun_family), 0);
  EXPECT_EQ(listen(fd, 4), 0);
  socklen_t size = sizeof name;
  EXPECT_EQ(getsockname(fd, (struct sockaddr*)&name, &size), 0);
  *other = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(connect(*other, (const struct sockaddr*)&name, size), 0);
  return fd;
}
CASE(nofile, emfile) {
  int pair[2], other;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  const int listener = listener_with_connection(&other);
  const struct rlimit before = no_more_descriptors();
  EXPECT_ERRNO(open("/dev/null", O_RDONLY), EMFILE);
  EXPECT_ERRNO(openat(AT_FDCWD, "/dev/null", O_RDONLY), EMFILE);
  EXPECT_ERRNO(socket(AF_UNIX, SOCK_STREAM, 0), EMFILE);
  EXPECT_ERRNO(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), EMFILE);
  EXPECT_ERRNO(accept(listener, NULL, NULL), EMFILE);
  EXPECT_ERRNO(accept4(listener, NULL, NULL, SOCK_CLOEXEC), EMFILE);
  EXPECT_ERRNO(pipe(pair), EMFILE);
  EXPECT_ERRNO(pipe2(pair, O_CLOEXEC), EMFILE);
  EXPECT_ERRNO(dup(0), EMFILE);
  EXPECT_ERRNO(dup2(0, 900), EBADF);
  EXPECT_ERRNO(fcntl(0, F_DUPFD, 0), EMFILE);
  EXPECT_ERRNO(fcntl(0, F_DUPFD, 900), EINVAL);
  EXPECT_ERRNO(fcntl(0, F_DUPFD_CLOEXEC, 0), EMFILE);
  EXPECT_ERRNO(epoll_create1(0), EMFILE);
  EXPECT_ERRNO(eventfd(0, 0), EMFILE);
  EXPECT_ERRNO(timerfd_create(CLOCK_MONOTONIC, 0), EMFILE);
  EXPECT_ERRNO(signalfd(-1, &set, 0), EMFILE);
  EXPECT_ERRNO(inotify_init1(0), EMFILE);
  EXPECT_ERRNO(memfd_create("file", 0), EMFILE);
  EXPECT_ERRNO(mq_open("/clew_limits", O_RDWR | O_CREAT, 0600, NULL), EMFILE);
  EXPECT_ERRNO(syscall(SYS_pidfd_open, getpid(), 0), EMFILE);
  EXPECT_ERRNO(mkstemp((char[]){"/tmp/clew_XXXXXX"}), EMFILE);
  NULL_WITH(fopen("/dev/null", "r"), EMFILE);
  NULL_WITH(opendir("/"), EMFILE);
  NULL_WITH(popen("true", "r"), EMFILE);
  NULL_WITH(tmpfile(), EMFILE);
  NULL_WITH(fdopendir(dup(0)), EBADF);
  unlimited(RLIMIT_NOFILE, before);
  EXPECT(accept(listener, NULL, NULL) >= 0);
  close(listener);
  close(other);
}
// The descriptor is reserved first: a thread does not wait for a connection for which it has no
// descriptor.
CASE(nofile, accept_without_connection) {
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct sockaddr_un name = {.sun_family = AF_UNIX};
  EXPECT_EQ(bind(listener, (const struct sockaddr*)&name, sizeof name.sun_family), 0);
  EXPECT_EQ(listen(listener, 4), 0);
  const struct rlimit before = no_more_descriptors();
  EXPECT_ERRNO(accept(listener, NULL, NULL), EMFILE);
  unlimited(RLIMIT_NOFILE, before);
  close(listener);
}
// What is received is lost, the message is truncated.
CASE(nofile, received_descriptor) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {buffer, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &ends[0], sizeof(int));
  EXPECT_EQ(sendmsg(ends[1], &message, 0), 1);
  const struct rlimit before = no_more_descriptors();
  message.msg_controllen = sizeof control;
  EXPECT_EQ(recvmsg(ends[0], &message, 0), 1);
  EXPECT((message.msg_flags & MSG_CTRUNC) != 0);
  unlimited(RLIMIT_NOFILE, before);
  close(ends[0]);
  close(ends[1]);
}
// More threads wait than descriptors may be open: poll refuses that many.
enum { kWaiting = 12 };
static int pipes[kWaiting][2];
static void* read_one(void* index) {
  char got = 0;
  EXPECT_EQ(read(pipes[(long)index][0], &got, 1), 1);
  return NULL;
}
static void read_by_many(void) {
  pthread_t threads[kWaiting];
  for (long i = 0; i < kWaiting; ++i) EXPECT_EQ(pipe(pipes[i]), 0);
  for (long i = 0; i < kWaiting; ++i) threads[i] = start(read_one, (void*)i);
  nap(10);
  const struct rlimit before = limited(RLIMIT_NOFILE, 3);
  for (long i = 0; i < kWaiting; ++i) {
    nap(1);
    EXPECT_EQ(write(pipes[i][1], "x", 1), 1);
  }
  for (long i = 0; i < kWaiting; ++i) finish(threads[i]);
  unlimited(RLIMIT_NOFILE, before);
  for (long i = 0; i < kWaiting; ++i) close(pipes[i][0]), close(pipes[i][1]);
}
CASE(nofile, many_wait) { read_by_many(); }
CASE(nofile, poll) {
  struct pollfd fds[4] = {{-1, 0, 0}, {-1, 0, 0}, {-1, 0, 0}, {-1, 0, 0}};
  const struct rlimit before = limited(RLIMIT_NOFILE, 3);
  EXPECT_ERRNO(poll(fds, 4, -1), EINVAL);
  EXPECT_EQ(poll(fds, 3, 0), 0);
  unlimited(RLIMIT_NOFILE, before);
}
CASE(nofile, many_timers) {
  int fds[300];
  for (int i = 0; i < 300; ++i) {
    fds[i] = timerfd_create(CLOCK_MONOTONIC, 0);
    EXPECT(fds[i] >= 0);
  }
  for (int i = 0; i < 300; ++i) close(fds[i]);
}
CASE(nofile, many_signalfds) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  int fds[100];
  for (int i = 0; i < 100; ++i) {
    fds[i] = signalfd(-1, &set, 0);
    EXPECT(fds[i] >= 0);
  }
  for (int i = 0; i < 100; ++i) close(fds[i]);
}

// --- memory --------------------------------------------------------------------------------------

static long in_use(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  EXPECT_EQ(fscanf(file, "%ld", &pages), 1);
  fclose(file);
  return pages * 4096;
}
CASE(as, enomem) {
  const struct rlimit before = limited(RLIMIT_AS, (rlim_t)in_use() + (16 << 20));
  NULL_WITH(malloc(64 << 20), ENOMEM);
  NULL_WITH(calloc(64, 1 << 20), ENOMEM);
  NULL_WITH(aligned_alloc(4096, 64 << 20), ENOMEM);
  void* out = NULL;
  EXPECT_EQ(posix_memalign(&out, 64, 64 << 20), ENOMEM);
  char* kept = malloc(1000);
  kept[999] = 'k';
  NULL_WITH(realloc(kept, 64 << 20), ENOMEM);
  EXPECT_EQ(kept[999], 'k');
  free(kept);
  EXPECT_ERRNO((long)mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
  pthread_attr_t attributes;
  pthread_t thread;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, 64 << 20), 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(pthread_create(&thread, &attributes, nothing, NULL), EAGAIN);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, 1 << 18), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, nothing, NULL), 0);
  EXPECT_EQ(pthread_join(thread, NULL), 0);
  unlimited(RLIMIT_AS, before);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, 64 << 20), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, nothing, NULL), 0);
  EXPECT_EQ(pthread_join(thread, NULL), 0);
}
// No more memory at all: threads that run, wait and end need none.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int told;
static void* wait_to_be_told(void* unused) {
  pthread_mutex_lock(&mutex);
  while (!told) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
CASE(as, nothing_left) {
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) threads[i] = start(wait_to_be_told, NULL);
  nap(5);
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const struct rlimit before = limited(RLIMIT_AS, 4096);
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, NULL, nothing, NULL) == EAGAIN, 1);
  NULL_WITH(malloc(1 << 26), ENOMEM);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(write(ends[1], buffer, 100), 100);
    EXPECT_EQ(read(ends[0], buffer, 100), 100);
  }
  pthread_mutex_lock(&mutex);
  told = 1;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(pthread_join(threads[i], NULL), 0);
  unlimited(RLIMIT_AS, before);
  close(ends[0]);
  close(ends[1]);
}
// Threads until there is no room for another.
enum { kManyThreads = 4000 };
static pthread_t many[kManyThreads];
CASE(as, as_many_threads_as_fit) {
  told = 0;
  pthread_attr_t attributes;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
  const struct rlimit before = limited(RLIMIT_AS, (rlim_t)in_use() + (60 << 20));
  int count = 0, error = 0;
  while (count < kManyThreads &&
         (error = pthread_create(&many[count], &attributes, wait_to_be_told, NULL)) == 0)
    ++count;
  EXPECT_EQ(error, EAGAIN);
  EXPECT(count > 20);
  unlimited(RLIMIT_AS, before);
  pthread_mutex_lock(&mutex);
  told = 1;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < count; ++i) EXPECT_EQ(pthread_join(many[i], NULL), 0);
}
CASE(memlock, enomem) {
  static char page[8192] __attribute__((aligned(4096)));
  const struct rlimit before = limited(RLIMIT_MEMLOCK, 0);
  errno = 0;
  const int locked = mlock(page, 4096);  // allowed with CAP_IPC_LOCK
  EXPECT(locked == 0 || errno == EPERM || errno == ENOMEM);
  munlock(page, 4096);
  unlimited(RLIMIT_MEMLOCK, before);
}

// --- files ---------------------------------------------------------------------------------------

static volatile sig_atomic_t too_large;
static void on_too_large(int number) {
  (void)number;
  ++too_large;
}
CASE(fsize, efbig) {
  const struct sigaction action = {.sa_handler = on_too_large};
  EXPECT_EQ(sigaction(SIGXFSZ, &action, NULL), 0);
  char name[] = "/tmp/clew_limits_XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  const struct rlimit before = limited(RLIMIT_FSIZE, 1000);
  EXPECT_EQ(write(fd, buffer, 900), 900);
  EXPECT_EQ(write(fd, buffer, 900), 100);  // what there is room for
  EXPECT_EQ(too_large, 0);
  EXPECT_ERRNO(write(fd, buffer, 1), EFBIG);
  EXPECT_EQ(too_large, 1);
  EXPECT_ERRNO(pwrite(fd, buffer, 1, 2000), EFBIG);
  EXPECT_EQ(too_large, 2);
  EXPECT_ERRNO(ftruncate(fd, 2000), EFBIG);
  EXPECT_EQ(too_large, 3);
  EXPECT_ERRNO(fallocate(fd, 0, 0, 2000), EFBIG);
  signal(SIGXFSZ, SIG_IGN);
  EXPECT_ERRNO(writev(fd, &(struct iovec){buffer, 1}, 1), EFBIG);
  // Nothing else is kept from continuing.
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(write(ends[1], buffer, 4000), 4000);
    EXPECT_EQ(read(ends[0], buffer, 4000), 4000);
  }
  FILE* file = fdopen(fd, "w");
  fputs("text", file);
  EXPECT_ERRNO(fclose(file), EFBIG);
  unlimited(RLIMIT_FSIZE, before);
  close(ends[0]);
  close(ends[1]);
}
CASE(disk, full) {
  char place[] = "/tmp/clew_disk_XXXXXX";
  EXPECT(mkdtemp(place) != NULL);
  // Only root may, and not in every container. /dev/full stands in for it in short.c.
  if (mount("none", place, "tmpfs", 0, "size=16k,nr_inodes=4") == 0) {
    char name[100];
    sprintf(name, "%s/file", place);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    long total = 0, n;
    while ((n = write(fd, buffer, 5000)) > 0) total += n;
    EXPECT(n == -1 && errno == ENOSPC);
    EXPECT_EQ(total, 16384);
    EXPECT_ERRNO(fallocate(fd, 0, 0, 1 << 20), ENOSPC);
    FILE* file = fdopen(fd, "a");
    fputs("text", file);
    EXPECT_ERRNO(fflush(file), ENOSPC);
    fputs("text", file);
    EXPECT_ERRNO(fclose(file), ENOSPC);
    for (int i = 0; i < 4; ++i) {
      sprintf(name, "%s/%d", place, i);
      if (mkdir(name, 0700) != 0) break;
    }
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(umount2(place, MNT_DETACH), 0);
  }
  rmdir(place);
}

// --- signals -------------------------------------------------------------------------------------

// A limit that is not set here may be anything, but this many fit into any.
CASE(sigqueue, queued) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(sigqueue(getpid(), SIGRTMIN, (union sigval){i}), 0);
  siginfo_t info;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(sigwaitinfo(&set, &info), SIGRTMIN);
    EXPECT_EQ(info.si_value.sival_int, i);
  }
  EXPECT_ERRNO(sigtimedwait(&set, &info, &(struct timespec){0, 0}), EAGAIN);
  EXPECT_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
}
