// Calls that a signal handler interrupts (EINTR), those that are restarted (SA_RESTART), and those
// of pthread.h, which never report it.
#define _GNU_SOURCE
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "help.h"

typedef int Blocking(void);

static int ends[2];
static sem_t ready;
static sem_t never;
static int handled;
static int done;
static int result;
static int error;

static void note(int number) { __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST); }

static void* call(void* function) {
  sem_post(&ready);
  errno = 0;
  result = ((Blocking*)function)();
  error = errno;
  __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static pthread_t start_call(Blocking* function, int flags) {
  struct sigaction action = {.sa_handler = note, .sa_flags = flags};
  EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  EXPECT_EQ(sem_init(&ready, 0, 0), 0);
  EXPECT_EQ(sem_init(&never, 0, 0), 0);
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  handled = done = 0;
  result = error = -1000;
  pthread_t thread = start(call, (void*)function);
  while (sem_wait(&ready) != 0) {
  }
  return thread;
}

static void end_call(pthread_t thread) {
  finish(thread);
  close(ends[0]);
  close(ends[1]);
}

static int is_done(void) { return __atomic_load_n(&done, __ATOMIC_SEQ_CST); }

// Sends signals until one reaches the thread within the call.
static void expect_eintr(Blocking* function, int flags) {
  pthread_t thread = start_call(function, flags);
  while (!is_done()) {
    nap(1);
    EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
  }
  end_call(thread);
  EXPECT_EQ(result, -1);
  EXPECT_EQ(error, EINTR);
}

static void send_some(pthread_t thread) {
  for (int i = 0; i < 3; ++i) {
    nap(2);
    EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
    while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) <= i) nap(1);
  }
  EXPECT_EQ(is_done(), 0);
}

// Signals do not end the call; `finish_it` does.
static void expect_restart(Blocking* function, int flags, void (*finish_it)(void), int expected) {
  pthread_t thread = start_call(function, flags);
  send_some(thread);
  finish_it();
  end_call(thread);
  EXPECT_EQ(result, expected);
  EXPECT_EQ(handled, 3);
}

static int call_read(void) {
  char byte;
  return (int)read(ends[0], &byte, 1);
}

static int call_recv(void) {
  char byte;
  return (int)recv(ends[0], &byte, 1, 0);
}

static void send_byte(void) { EXPECT_EQ(write(ends[1], "x", 1), 1); }

CASE(read, eintr) { expect_eintr(call_read, 0); }
CASE(read, restarts) { expect_restart(call_read, SA_RESTART, send_byte, 1); }
CASE(recv, eintr) { expect_eintr(call_recv, 0); }
CASE(recv, restarts) { expect_restart(call_recv, SA_RESTART, send_byte, 1); }

static int call_poll(void) {
  struct pollfd set = {ends[0], POLLIN, 0};
  return poll(&set, 1, -1);
}

static int call_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  return select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static int call_epoll_wait(void) {
  struct epoll_event event = {.events = EPOLLIN};
  int descriptor = epoll_create1(0);
  EXPECT_EQ(epoll_ctl(descriptor, EPOLL_CTL_ADD, ends[0], &event), 0);
  int count = epoll_wait(descriptor, &event, 1, -1);
  int saved = errno;
  close(descriptor);
  errno = saved;
  return count;
}

// Never restarted, whatever the flags.
CASE(poll, eintr) { expect_eintr(call_poll, 0); }
CASE(poll, eintr_with_sa_restart) { expect_eintr(call_poll, SA_RESTART); }
CASE(select, eintr) { expect_eintr(call_select, 0); }
CASE(select, eintr_with_sa_restart) { expect_eintr(call_select, SA_RESTART); }
CASE(epoll_wait, eintr_with_sa_restart) { expect_eintr(call_epoll_wait, SA_RESTART); }

static int call_nanosleep(void) {
  struct timespec left = {0, 0};
  int outcome = nanosleep(&(struct timespec){1000, 0}, &left);
  int saved = errno;
  EXPECT(left.tv_sec > 0);
  errno = saved;
  return outcome;
}

static int call_clock_nanosleep(void) {
  errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){1000, 0}, NULL);
  return errno == 0 ? 0 : -1;
}

static int call_sleep(void) {
  unsigned left = sleep(1000);
  EXPECT(left > 0);
  errno = EINTR;
  return -1;
}

static int call_usleep(void) { return usleep(900000000); }

CASE(nanosleep, eintr) { expect_eintr(call_nanosleep, 0); }
CASE(nanosleep, eintr_with_sa_restart) { expect_eintr(call_nanosleep, SA_RESTART); }
CASE(clock_nanosleep, eintr) { expect_eintr(call_clock_nanosleep, 0); }
CASE(sleep, tells_what_is_left) { expect_eintr(call_sleep, 0); }
CASE(usleep, eintr) { expect_eintr(call_usleep, 0); }

static int call_sem_wait(void) { return sem_wait(&never); }

static int call_sem_timedwait(void) {
  struct timespec time = in_ms(CLOCK_REALTIME, 1000000);
  return sem_timedwait(&never, &time);
}

static int call_sem_clockwait(void) {
  struct timespec time = in_ms(CLOCK_MONOTONIC, 1000000);
  return sem_clockwait(&never, CLOCK_MONOTONIC, &time);
}

static void post(void) { EXPECT_EQ(sem_post(&never), 0); }

CASE(sem_wait, eintr) { expect_eintr(call_sem_wait, 0); }
CASE(sem_wait, restarts) { expect_restart(call_sem_wait, SA_RESTART, post, 0); }
CASE(sem_timedwait, eintr) { expect_eintr(call_sem_timedwait, 0); }
CASE(sem_clockwait, eintr) { expect_eintr(call_sem_clockwait, 0); }

static int call_msgrcv(void) {
  struct {
    long type;
    char text[1];
  } letter;
  int queue = msgget(IPC_PRIVATE, 0600);
  int count = (int)msgrcv(queue, &letter, 1, 0, 0);
  int saved = errno;
  msgctl(queue, IPC_RMID, NULL);
  errno = saved;
  return count;
}

CASE(msgrcv, eintr) { expect_eintr(call_msgrcv, 0); }

// No function of pthread.h returns EINTR: the waits continue when the handler has returned.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int flag;

static int call_mutex_lock(void) {
  int outcome = pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return outcome;
}

static void unlock_mutex(void) { EXPECT_EQ(pthread_mutex_unlock(&mutex), 0); }

CASE(pthread_mutex_lock, no_eintr) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  expect_restart(call_mutex_lock, 0, unlock_mutex, 0);
}

static int call_rwlock(void) {
  int outcome = pthread_rwlock_wrlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  return outcome;
}

static void unlock_rwlock(void) { EXPECT_EQ(pthread_rwlock_unlock(&rwlock), 0); }

CASE(pthread_rwlock_wrlock, no_eintr) {
  EXPECT_EQ(pthread_rwlock_rdlock(&rwlock), 0);
  expect_restart(call_rwlock, 0, unlock_rwlock, 0);
}

static int call_cond_wait(void) {
  int outcome = 0;
  pthread_mutex_lock(&mutex);
  while (!flag && outcome == 0) outcome = pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return outcome;
}

static void set_flag(void) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  flag = 1;
  EXPECT_EQ(pthread_cond_signal(&condition), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

CASE(pthread_cond_wait, no_eintr) {
  flag = 0;
  expect_restart(call_cond_wait, 0, set_flag, 0);
}

static int call_barrier(void) {
  int outcome = pthread_barrier_wait(&barrier);
  return outcome == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : outcome;
}

static void meet(void) { call_barrier(); }

CASE(pthread_barrier_wait, no_eintr) {
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
  expect_restart(call_barrier, 0, meet, 0);
}

static sem_t release;
static pthread_t joined;

static void* wait_for_release(void* unused) {
  while (sem_wait(&release) != 0) {
  }
  return NULL;
}

static int call_join(void) { return pthread_join(joined, NULL); }
static void post_release(void) { EXPECT_EQ(sem_post(&release), 0); }

CASE(pthread_join, no_eintr) {
  EXPECT_EQ(sem_init(&release, 0, 0), 0);
  joined = start(wait_for_release, NULL);
  expect_restart(call_join, 0, post_release, 0);
}

static pid_t child;

static int call_waitpid(void) { return waitpid(child, NULL, 0) == child ? 0 : -1; }
static void end_child(void) { EXPECT_EQ(kill(child, SIGKILL), 0); }

static void start_child(void) {
  fflush(stdout);
  child = fork();
  if (child == 0)
    for (;;) pause();
}

CASE(waitpid, restarts) {
  start_child();
  expect_restart(call_waitpid, SA_RESTART, end_child, 0);
}

CASE(waitpid, eintr) {
  start_child();
  expect_eintr(call_waitpid, 0);
  end_child();
  EXPECT_EQ(call_waitpid(), 0);
}
