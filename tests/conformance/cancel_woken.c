// A thread that waits at a cancellation point is cancelled, and then what it waits for happens: the
// cancellation came first.
#define _GNU_SOURCE
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>

#include "help.h"

static sem_t ready;
static sem_t semaphore;
static int descriptors[2];
static sigset_t signals;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int held_in_cleanup;
static int tokens;

typedef void Wait(void);

static void* wait_by(void* wait) {
  sem_post(&ready);
  ((Wait*)wait)();
  return NULL;
}

static pthread_t start_waiting(Wait* wait) {
  EXPECT_EQ(sem_init(&ready, 0, 0), 0);
  pthread_t thread = start(wait_by, (void*)wait);
  while (sem_wait(&ready) != 0) {
  }
  nap(kShortMs);
  return thread;
}

static void expect_cancelled(Wait* wait, Wait* happens) {
  pthread_t thread = start_waiting(wait);
  EXPECT_EQ(pthread_cancel(thread), 0);
  happens();
  EXPECT(finish(thread) == PTHREAD_CANCELED);
}

static void post(void) { EXPECT_EQ(sem_post(&semaphore), 0); }
static void wait_for_semaphore(void) { sem_wait(&semaphore); }
static void wait_for_semaphore_until(void) {
  const struct timespec late = in_ms(CLOCK_REALTIME, kLongMs);
  sem_timedwait(&semaphore, &late);
}

static int value_of_semaphore(void) {
  int value;
  sem_getvalue(&semaphore, &value);
  return value;
}

CASE(cancel_woken, sem_wait) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  expect_cancelled(wait_for_semaphore, post);
  EXPECT_EQ(value_of_semaphore(), 1);
}
CASE(cancel_woken, sem_timedwait) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  expect_cancelled(wait_for_semaphore_until, post);
  EXPECT_EQ(value_of_semaphore(), 1);
}

static void write_byte(void) { EXPECT_EQ(write(descriptors[1], "x", 1), 1); }
static void read_byte(void) {
  char byte;
  EXPECT_EQ(read(descriptors[0], &byte, 1), 1);
}
static void poll_for_byte(void) {
  struct pollfd fd = {descriptors[0], POLLIN, 0};
  poll(&fd, 1, -1);
}
static void select_byte(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(descriptors[0], &set);
  select(descriptors[0] + 1, &set, NULL, NULL, NULL);
}

static void expect_cancelled_before_byte(Wait* wait) {
  EXPECT_EQ(pipe(descriptors), 0);
  expect_cancelled(wait, write_byte);
  close(descriptors[0]);
  close(descriptors[1]);
}
CASE(cancel_woken, read) { expect_cancelled_before_byte(read_byte); }
CASE(cancel_woken, poll) { expect_cancelled_before_byte(poll_for_byte); }
CASE(cancel_woken, select) { expect_cancelled_before_byte(select_byte); }

static void wait_for_signal(void) {
  int signal;
  sigwait(&signals, &signal);
}
static void wait_for_signal_info(void) { sigwaitinfo(&signals, NULL); }
static void send_signal(void) { EXPECT_EQ(kill(getpid(), SIGUSR1), 0); }

static void expect_cancelled_before_signal(Wait* wait) {
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &signals, NULL), 0);
  expect_cancelled(wait, send_signal);
  const struct timespec none = {0, 0};
  sigtimedwait(&signals, NULL, &none);  // the kernel may have taken it from the queue
}
CASE(cancel_woken, sigwait) { expect_cancelled_before_signal(wait_for_signal); }
CASE(cancel_woken, sigwaitinfo) { expect_cancelled_before_signal(wait_for_signal_info); }

static void unlock(void* unused) {
  held_in_cleanup = pthread_mutex_trylock(&mutex) == EBUSY;
  pthread_mutex_unlock(&mutex);
}
static void wait_for_token(void) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  while (tokens == 0) pthread_cond_wait(&condition, &mutex);
  --tokens;
  pthread_cleanup_pop(1);
}
static void wait_for_token_until(void) {
  const struct timespec late = in_ms(CLOCK_REALTIME, kLongMs);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  while (tokens == 0) pthread_cond_timedwait(&condition, &mutex, &late);
  --tokens;
  pthread_cleanup_pop(1);
}
static void give_token(void) {
  pthread_mutex_lock(&mutex);
  ++tokens;
  EXPECT_EQ(pthread_cond_signal(&condition), 0);
  pthread_mutex_unlock(&mutex);
}

CASE(cancel_woken, pthread_cond_wait) {
  tokens = held_in_cleanup = 0;
  expect_cancelled(wait_for_token, give_token);
  EXPECT_EQ(tokens, 1);
  EXPECT_EQ(held_in_cleanup, 1);
}
CASE(cancel_woken, pthread_cond_timedwait) {
  tokens = held_in_cleanup = 0;
  expect_cancelled(wait_for_token_until, give_token);
  EXPECT_EQ(tokens, 1);
  EXPECT_EQ(held_in_cleanup, 1);
}
// The signal is not lost with the thread that it may have woken.
CASE(cancel_woken, pthread_cond_wait_of_another) {
  tokens = 0;
  pthread_t first = start_waiting(wait_for_token);
  pthread_t second = start_waiting(wait_for_token);
  EXPECT_EQ(pthread_cancel(first), 0);
  give_token();
  EXPECT(finish(first) == PTHREAD_CANCELED);
  EXPECT(finish(second) == NULL);
  EXPECT_EQ(tokens, 0);
}
