// The cancellation points of POSIX that can block: each with a request that is pending when it is
// called, and with one that comes while it waits.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "help.h"

typedef void Point(void);

static sem_t ready;
static int cleaned;
static int returned;

static void clean(void* unused) { ++cleaned; }

static void* call_pending(void* point) {
  pthread_cleanup_push(clean, NULL);
  pthread_cancel(pthread_self());
  ((Point*)point)();
  returned = 1;
  pthread_cleanup_pop(0);
  return NULL;
}

static void* call_blocking(void* point) {
  pthread_cleanup_push(clean, NULL);
  sem_post(&ready);
  ((Point*)point)();
  returned = 1;
  pthread_cleanup_pop(0);
  return NULL;
}

static void expect_pending(Point* point) {
  cleaned = returned = 0;
  EXPECT(finish(start(call_pending, (void*)point)) == PTHREAD_CANCELED);
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(cleaned, 1);
}

static void expect_blocked(Point* point) {
  cleaned = returned = 0;
  EXPECT_EQ(sem_init(&ready, 0, 0), 0);
  pthread_t thread = start(call_blocking, (void*)point);
  while (sem_wait(&ready) != 0) {
  }
  nap(kShortMs);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(cleaned, 1);
}

// Two cases of a function: `before` and `after` run in the main thread, `call` would wait forever.
#define POINT(function, before, call, after)  \
  static void function##_call(void) { call; } \
  CASE(cancel_pending, function) {            \
    before;                                   \
    expect_pending(function##_call);          \
    after;                                    \
  }                                           \
  CASE(cancel_blocked, function) {            \
    before;                                   \
    expect_blocked(function##_call);          \
    after;                                    \
  }

static int ends[2];
static char buffer[1 << 16];
static struct iovec vector = {buffer, sizeof buffer};
static struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};

static void close_ends(void) {
  close(ends[0]);
  close(ends[1]);
}

static void open_pipe(void) { EXPECT_EQ(pipe(ends), 0); }
static void open_sockets(void) { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }

// A descriptor that accepts no more bytes without blocking.
static void fill(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  while (write(descriptor, buffer, sizeof buffer) > 0) {
  }
  while (write(descriptor, buffer, 1) > 0) {
  }
  fcntl(descriptor, F_SETFL, flags);
}

static void open_full_pipe(void) {
  open_pipe();
  fill(ends[1]);
}

static void open_full_sockets(void) {
  open_sockets();
  fill(ends[1]);
}

POINT(read, open_pipe(), (void)!read(ends[0], buffer, 1), close_ends())
POINT(readv, open_pipe(), (void)!readv(ends[0], &vector, 1), close_ends())
POINT(write, open_full_pipe(), (void)!write(ends[1], buffer, 1), close_ends())
POINT(writev, open_full_pipe(), (void)!writev(ends[1], &vector, 1), close_ends())
POINT(recv, open_sockets(), recv(ends[0], buffer, 1, 0), close_ends())
POINT(recvfrom, open_sockets(), recvfrom(ends[0], buffer, 1, 0, NULL, NULL), close_ends())
POINT(recvmsg, open_sockets(), recvmsg(ends[0], &message, 0), close_ends())
POINT(send, open_full_sockets(), send(ends[1], buffer, 1, 0), close_ends())
POINT(sendto, open_full_sockets(), sendto(ends[1], buffer, 1, 0, NULL, 0), close_ends())
POINT(sendmsg, open_full_sockets(), sendmsg(ends[1], &message, 0), close_ends())

static struct pollfd poll_set(void) { return (struct pollfd){ends[0], POLLIN, 0}; }

static void call_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static void call_pselect(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  pselect(ends[0] + 1, &set, NULL, NULL, NULL, NULL);
}

POINT(poll, open_pipe(), struct pollfd set = poll_set(); poll(&set, 1, -1), close_ends())
POINT(ppoll, open_pipe(), struct pollfd set = poll_set(); ppoll(&set, 1, NULL, NULL), close_ends())
POINT(select, open_pipe(), call_select(), close_ends())
POINT(pselect, open_pipe(), call_pselect(), close_ends())

static int epoll_descriptor;

static void open_epoll(void) {
  open_pipe();
  epoll_descriptor = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  EXPECT_EQ(epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, ends[0], &event), 0);
}

static void close_epoll(void) {
  close(epoll_descriptor);
  close_ends();
}

static struct epoll_event event;
POINT(epoll_wait, open_epoll(), epoll_wait(epoll_descriptor, &event, 1, -1), close_epoll())

static void open_listener(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  ends[1] = dup(ends[0]);
  EXPECT_EQ(bind(ends[0], (struct sockaddr*)&address, sizeof address), 0);
  EXPECT_EQ(listen(ends[0], 1), 0);
}

POINT(accept, open_listener(), accept(ends[0], NULL, NULL), close_ends())
POINT(accept4, open_listener(), accept4(ends[0], NULL, NULL, 0), close_ends())

static const struct timespec kLongTime = {1000, 0};

POINT(sleep, , sleep(1000), )
POINT(usleep, , usleep(900000000), )
POINT(nanosleep, , nanosleep(&kLongTime, NULL), )
POINT(clock_nanosleep, , clock_nanosleep(CLOCK_MONOTONIC, 0, &kLongTime, NULL), )
POINT(pause, , pause(), )

static sem_t never;

static struct timespec far_away(void) { return in_ms(CLOCK_REALTIME, 1000000); }

POINT(sem_wait, sem_init(&never, 0, 0), sem_wait(&never), sem_destroy(&never))
POINT(sem_timedwait, sem_init(&never, 0, 0), struct timespec time = far_away();
      sem_timedwait(&never, &time), sem_destroy(&never))
POINT(sem_clockwait, sem_init(&never, 0, 0), struct timespec time = far_away();
      sem_clockwait(&never, CLOCK_REALTIME, &time), sem_destroy(&never))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int held_in_handler;

static void note_and_unlock(void* unused) {
  held_in_handler = pthread_mutex_trylock(&mutex) == EBUSY;
  pthread_mutex_unlock(&mutex);
}

// The mutex is taken again before the handlers run.
static void wait_with(int (*wait)(void)) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(note_and_unlock, NULL);
  for (;;) wait();
  pthread_cleanup_pop(0);
}

static int cond_wait(void) { return pthread_cond_wait(&condition, &mutex); }

static int cond_timedwait(void) {
  struct timespec time = far_away();
  return pthread_cond_timedwait(&condition, &mutex, &time);
}

static int cond_clockwait(void) {
  struct timespec time = far_away();
  return pthread_cond_clockwait(&condition, &mutex, CLOCK_REALTIME, &time);
}

static void check_mutex(void) {
  EXPECT_EQ(held_in_handler, 1);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

POINT(pthread_cond_wait, held_in_handler = 0, wait_with(cond_wait), check_mutex())
POINT(pthread_cond_timedwait, held_in_handler = 0, wait_with(cond_timedwait), check_mutex())
POINT(pthread_cond_clockwait, held_in_handler = 0, wait_with(cond_clockwait), check_mutex())

static sem_t release;
static pthread_t joined;

static void* wait_for_release(void* unused) {
  while (sem_wait(&release) != 0) {
  }
  return NULL;
}

static void start_joined(void) {
  EXPECT_EQ(sem_init(&release, 0, 0), 0);
  joined = start(wait_for_release, NULL);
}

// The join did not happen: the thread can still be joined.
static void end_joined(void) {
  EXPECT_EQ(sem_post(&release), 0);
  finish(joined);
}

POINT(pthread_join, start_joined(), pthread_join(joined, NULL), end_joined())
POINT(pthread_timedjoin_np, start_joined(), struct timespec time = far_away();
      pthread_timedjoin_np(joined, NULL, &time), end_joined())
POINT(pthread_clockjoin_np, start_joined(), struct timespec time = far_away();
      pthread_clockjoin_np(joined, NULL, CLOCK_REALTIME, &time), end_joined())

static sigset_t usr1;

static void choose_signal(void) {
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
}

POINT(sigwait, choose_signal(), int number; sigwait(&usr1, &number), )
POINT(sigwaitinfo, choose_signal(), sigwaitinfo(&usr1, NULL), )
POINT(sigtimedwait, choose_signal(), sigtimedwait(&usr1, NULL, &kLongTime), )
POINT(sigsuspend, sigemptyset(&usr1), sigsuspend(&usr1), )

static pid_t child;

static void start_child(void) {
  fflush(stdout);
  child = fork();
  if (child == 0)
    for (;;) pause();
}

static void end_child(void) {
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, NULL, 0), child);
}

POINT(wait, start_child(), wait(NULL), end_child())
POINT(waitpid, start_child(), waitpid(child, NULL, 0), end_child())
POINT(waitid, start_child(), waitid(P_PID, (id_t)child, NULL, WEXITED), end_child())

static int queue;

struct Letter {
  long type;
  char text[1];
};

static struct Letter letter = {1, "x"};

static void open_queue(void) {
  queue = msgget(IPC_PRIVATE, 0600);
  EXPECT(queue >= 0);
}

static void fill_queue(void) {
  open_queue();
  while (msgsnd(queue, &letter, 1, IPC_NOWAIT) == 0) {
  }
}

static void remove_queue(void) { EXPECT_EQ(msgctl(queue, IPC_RMID, NULL), 0); }

POINT(msgrcv, open_queue(), msgrcv(queue, &letter, 1, 0, 0), remove_queue())
POINT(msgsnd, fill_queue(), msgsnd(queue, &letter, 1, 0), remove_queue())

static mqd_t posix_queue;

static void open_posix_queue(void) {
  char name[64];
  snprintf(name, sizeof name, "/clew-conformance-%d", (int)getpid());
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  mq_unlink(name);
  posix_queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
  EXPECT(posix_queue != (mqd_t)-1);
  mq_unlink(name);
}

static void fill_posix_queue(void) {
  open_posix_queue();
  EXPECT_EQ(mq_send(posix_queue, "x", 1, 0), 0);
}

POINT(mq_receive, open_posix_queue(), mq_receive(posix_queue, buffer, 8, NULL),
      mq_close(posix_queue))
POINT(mq_send, fill_posix_queue(), mq_send(posix_queue, "x", 1, 0), mq_close(posix_queue))

static int file;

static void open_locked_file(void) {
  char name[] = "/tmp/clew-conformance-XXXXXX";
  file = mkstemp(name);
  EXPECT(file >= 0);
  unlink(name);
}

static void call_open(void) {
  int opened = open("/dev/null", O_RDONLY);
  if (opened >= 0) close(opened);
}

// These do not wait here, but act on a request that is pending.
CASE(cancel_pending, open) { expect_pending(call_open); }

static void call_fsync(void) { fsync(file); }
static void call_pread(void) { (void)!pread(file, buffer, 1, 0); }
static void call_pwrite(void) { (void)!pwrite(file, buffer, 1, 0); }
static void call_close(void) { close(dup(file)); }

CASE(cancel_pending, file_functions) {
  open_locked_file();
  expect_pending(call_fsync);
  expect_pending(call_pread);
  expect_pending(call_pwrite);
  expect_pending(call_close);
  close(file);
}

static void expect_no_point(Point* point) {
  cleaned = returned = 0;
  EXPECT(finish(start(call_pending, (void*)point)) == NULL);
  EXPECT_EQ(returned, 1);
}

static const char object_name[] = "/clew-conformance-no-point";

static void call_sem_open(void) {
  sem_t* opened = sem_open(object_name, O_CREAT, 0600, 1);
  EXPECT(opened != SEM_FAILED);
  if (opened != SEM_FAILED) sem_close(opened);
  sem_unlink(object_name);
}

static void call_shm_open(void) {
  EXPECT(shm_open(object_name, O_RDWR | O_CREAT, 0600) >= 0);
  shm_unlink(object_name);
}

static void call_opendir(void) {
  DIR* folder = opendir("/");
  EXPECT(folder != NULL && readdir(folder) != NULL);
  if (folder != NULL) closedir(folder);
}

// They use functions that are cancellation points; glibc ensures that nothing is lost.
CASE(cancel_pending, no_points) {
  expect_no_point(call_sem_open);
  expect_no_point(call_shm_open);
  expect_no_point(call_opendir);
}
