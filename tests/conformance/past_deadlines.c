// Timed calls whose deadline has passed, in loops until another thread has done its part: each gives
// up what it would have given up for the time of the wait, so the other thread gets its turn.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>

#include "help.h"

static const struct timespec kPast = {1, 0};
static const struct timespec kNone = {0, 0};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;

static void* set_under_lock(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return unused;
}

static void* set(void* unused) {
  __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  return unused;
}

static int is_done(void) { return __atomic_load_n(&done, __ATOMIC_SEQ_CST); }

// The other thread waits for the mutex, which only the waits release.
static void wait_by(int (*wait)(void)) {
  done = 0;
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  pthread_t other = start(set_under_lock, NULL);
  while (!done) {
    const int error = wait();
    EXPECT(error == ETIMEDOUT || error == 0);
  }
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(other);
}

static int timedwait(void) { return pthread_cond_timedwait(&condition, &mutex, &kPast); }
static int clockwait(void) {
  return pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &kNone);
}
// Past by the time of the wait.
static int wait_for_a_nanosecond(void) {
  const struct timespec soon = in_ms(CLOCK_REALTIME, 0);
  return pthread_cond_timedwait(&condition, &mutex, &soon);
}

CASE(pthread_cond_timedwait, past) { wait_by(timedwait); }
CASE(pthread_cond_clockwait, past) { wait_by(clockwait); }
CASE(pthread_cond_timedwait, just_past) { wait_by(wait_for_a_nanosecond); }

// Several threads loop like this, and only one of them can set the flag.
static void* loop_until_done(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  while (!done) timedwait();
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return unused;
}

CASE(pthread_cond_timedwait, past_by_several) {
  done = 0;
  pthread_t threads[4];
  for (int i = 0; i < 3; ++i) threads[i] = start(loop_until_done, NULL);
  threads[3] = start(set_under_lock, NULL);
  for (int i = 0; i < 4; ++i) finish(threads[i]);
}

static mtx_t c11_mutex;
static cnd_t c11_condition;

static int c11_set(void* unused) {
  EXPECT_EQ(mtx_lock(&c11_mutex), thrd_success);
  done = 1;
  EXPECT_EQ(mtx_unlock(&c11_mutex), thrd_success);
  return unused != NULL;
}

CASE(cnd_timedwait, past) {
  done = 0;
  thrd_t other;
  EXPECT_EQ(mtx_init(&c11_mutex, mtx_timed), thrd_success);
  EXPECT_EQ(cnd_init(&c11_condition), thrd_success);
  EXPECT_EQ(mtx_lock(&c11_mutex), thrd_success);
  EXPECT_EQ(thrd_create(&other, c11_set, NULL), thrd_success);
  while (!done) cnd_timedwait(&c11_condition, &c11_mutex, &kPast);
  EXPECT_EQ(mtx_unlock(&c11_mutex), thrd_success);
  EXPECT_EQ(thrd_join(other, NULL), thrd_success);
}

static sem_t semaphore;

static void* post(void* unused) {
  EXPECT_EQ(sem_post(&semaphore), 0);
  return unused;
}

CASE(sem_timedwait, past) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  pthread_t other = start(post, NULL);
  while (sem_timedwait(&semaphore, &kPast) != 0) EXPECT_EQ(errno, ETIMEDOUT);
  finish(other);
}

CASE(pthread_mutex_timedlock, past) {
  done = 0;
  pthread_t other = start(set_under_lock, NULL);
  while (!is_done())
    if (pthread_mutex_timedlock(&mutex, &kPast) == 0) EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(other);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void* set_under_write_lock(void* unused) {
  EXPECT_EQ(pthread_rwlock_wrlock(&rwlock), 0);
  set(NULL);
  EXPECT_EQ(pthread_rwlock_unlock(&rwlock), 0);
  return unused;
}

CASE(pthread_rwlock_timedrdlock, past) {
  done = 0;
  pthread_t other = start(set_under_write_lock, NULL);
  while (!is_done())
    if (pthread_rwlock_timedrdlock(&rwlock, &kPast) == 0)
      EXPECT_EQ(pthread_rwlock_unlock(&rwlock), 0);
  finish(other);
}

CASE(pthread_rwlock_timedwrlock, past) {
  done = 0;
  pthread_t other = start(set_under_write_lock, NULL);
  while (!is_done())
    if (pthread_rwlock_timedwrlock(&rwlock, &kPast) == 0)
      EXPECT_EQ(pthread_rwlock_unlock(&rwlock), 0);
  finish(other);
}

CASE(pthread_timedjoin_np, past) {
  done = 0;
  pthread_t other = start(set, NULL);
  int error;
  while ((error = pthread_timedjoin_np(other, NULL, &kPast)) != 0) EXPECT_EQ(error, ETIMEDOUT);
  EXPECT(is_done());
}

static void* send_signal(void* unused) {
  EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
  return unused;
}

CASE(sigtimedwait, no_time) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &signals, NULL), 0);
  pthread_t other = start(send_signal, NULL);
  while (sigtimedwait(&signals, NULL, &kNone) != SIGUSR1) EXPECT_EQ(errno, EAGAIN);
  finish(other);
}

static mqd_t queue;

static void* send_message(void* unused) {
  EXPECT_EQ(mq_send(queue, "x", 1, 0), 0);
  return unused;
}

CASE(mq_timedreceive, past) {
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  char name[40], text[8];
  snprintf(name, sizeof name, "/clew-past-%d", getpid());
  queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
  EXPECT(queue != (mqd_t)-1);
  mq_unlink(name);
  pthread_t other = start(send_message, NULL);
  while (mq_timedreceive(queue, text, sizeof text, NULL, &kPast) < 0) EXPECT_EQ(errno, ETIMEDOUT);
  finish(other);
  mq_close(queue);
}

// Calls that take no time.
static void loop_over(void (*call)(void)) {
  done = 0;
  pthread_t other = start(set, NULL);
  while (!is_done()) call();
  finish(other);
}

static void poll_nothing(void) { poll(NULL, 0, 0); }
static void select_nothing(void) {
  struct timeval none = {0, 0};
  select(0, NULL, NULL, NULL, &none);
}
static void sleep_for_nothing(void) { nanosleep(&kNone, NULL); }
static void sleep_until_past(void) {
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &kNone, NULL);
}
static void usleep_nothing(void) { usleep(0); }
static void yield(void) { sched_yield(); }
static int epoll;
static void epoll_nothing(void) {
  struct epoll_event event;
  epoll_wait(epoll, &event, 1, 0);
}

CASE(poll, no_time) { loop_over(poll_nothing); }
CASE(select, no_time) { loop_over(select_nothing); }
CASE(nanosleep, no_time) { loop_over(sleep_for_nothing); }
CASE(clock_nanosleep, past) { loop_over(sleep_until_past); }
CASE(usleep, no_time) { loop_over(usleep_nothing); }
CASE(sched_yield, in_a_loop) { loop_over(yield); }
CASE(epoll_wait, no_time) {
  epoll = epoll_create1(0);
  loop_over(epoll_nothing);
  close(epoll);
}
