// pthread_cond_*: signal, broadcast, timed and clock waits.
#define _GNU_SOURCE
#include "help.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting;
static int tokens;
static int woken;

// Waits for a token and takes it.
static void* take_token(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  ++waiting;
  while (tokens == 0) EXPECT_EQ(pthread_cond_wait(&condition, &mutex), 0);
  --tokens;
  ++woken;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

static void reset(void) { waiting = tokens = woken = 0; }

// Returns with the mutex held, when `count` threads have released it in order to wait.
static void lock_when_waiting(int count) {
  for (;;) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    if (waiting == count) return;
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    nap(1);
  }
}

CASE(pthread_cond_init, and_destroy) {
  pthread_cond_t local;
  EXPECT_EQ(pthread_cond_init(&local, NULL), 0);
  EXPECT_EQ(pthread_cond_destroy(&local), 0);
  EXPECT_EQ(pthread_cond_init(&local, NULL), 0);
  EXPECT_EQ(pthread_cond_signal(&local), 0);
  EXPECT_EQ(pthread_cond_broadcast(&local), 0);
  EXPECT_EQ(pthread_cond_destroy(&local), 0);
}

CASE(pthread_cond_signal, wakes_one_at_least) {
  reset();
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(take_token, NULL);
  for (int i = 0; i < 3; ++i) {
    lock_when_waiting(3);
    tokens = 1;
    EXPECT_EQ(pthread_cond_signal(&condition), 0);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    for (int taken = 0; !taken; nap(1)) {
      EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
      taken = tokens == 0;
      EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    }
    EXPECT_EQ(woken, i + 1);
  }
  for (int i = 0; i < 3; ++i) finish(threads[i]);
}

CASE(pthread_cond_signal, without_the_mutex) {
  reset();
  pthread_t thread = start(take_token, NULL);
  lock_when_waiting(1);
  tokens = 1;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_cond_signal(&condition), 0);
  finish(thread);
  EXPECT_EQ(woken, 1);
}

CASE(pthread_cond_broadcast, wakes_all) {
  reset();
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(take_token, NULL);
  lock_when_waiting(4);
  tokens = 4;
  EXPECT_EQ(pthread_cond_broadcast(&condition), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  for (int i = 0; i < 4; ++i) finish(threads[i]);
  EXPECT_EQ(woken, 4);
  EXPECT_EQ(tokens, 0);
}

// A signal that nobody waits for is lost.
CASE(pthread_cond_signal, is_not_kept) {
  pthread_cond_t local = PTHREAD_COND_INITIALIZER;
  EXPECT_EQ(pthread_cond_signal(&local), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  struct timespec time = in_ms(CLOCK_REALTIME, kShortMs);
  int result;
  do {
    result = pthread_cond_timedwait(&local, &mutex, &time);  // 0: a spurious wake-up
  } while (result == 0 && !has_passed(CLOCK_REALTIME, time));
  EXPECT(result == ETIMEDOUT || result == 0);
  EXPECT(has_passed(CLOCK_REALTIME, time));
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_cond_destroy(&local), 0);
}

// Waits until the time has passed; returns what the last wait returned. Holds the mutex.
static int time_out(pthread_cond_t* which, clockid_t clock, long ms) {
  struct timespec time = in_ms(clock, ms);
  int result;
  do {
    result = pthread_cond_timedwait(which, &mutex, &time);
  } while (result == 0);
  EXPECT(has_passed(clock, time));
  return result;
}

static int is_locked(void* unused) {
  int result = pthread_mutex_trylock(&mutex);
  if (result == 0) pthread_mutex_unlock(&mutex);
  return result == EBUSY;
}

CASE(pthread_cond_timedwait, etimedout) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(time_out(&condition, CLOCK_REALTIME, kShortMs), ETIMEDOUT);
  EXPECT_EQ(in_thread(is_locked, NULL), 1);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

CASE(pthread_cond_timedwait, etimedout_in_the_past) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(time_out(&condition, CLOCK_REALTIME, -1000), ETIMEDOUT);
  struct timespec epoch = {0, 0};
  EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &epoch), ETIMEDOUT);
  EXPECT_EQ(in_thread(is_locked, NULL), 1);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

CASE(pthread_cond_timedwait, etimedout_monotonic) {
  pthread_condattr_t attributes;
  pthread_cond_t local;
  EXPECT_EQ(pthread_condattr_init(&attributes), 0);
  EXPECT_EQ(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
  EXPECT_EQ(pthread_cond_init(&local, &attributes), 0);
  EXPECT_EQ(pthread_condattr_destroy(&attributes), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(time_out(&local, CLOCK_MONOTONIC, kShortMs), ETIMEDOUT);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_cond_destroy(&local), 0);
}

CASE(pthread_cond_timedwait, einval) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  struct timespec time = bad_time();
  EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &time), EINVAL);
  time.tv_nsec = -1;
  EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &time), EINVAL);
  EXPECT_EQ(in_thread(is_locked, NULL), 1);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

static void* take_token_in_time(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  ++waiting;
  struct timespec time = in_ms(CLOCK_REALTIME, kLongMs);
  while (tokens == 0) EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &time), 0);
  --tokens;
  ++woken;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

CASE(pthread_cond_timedwait, is_woken_in_time) {
  reset();
  pthread_t thread = start(take_token_in_time, NULL);
  lock_when_waiting(1);
  tokens = 1;
  EXPECT_EQ(pthread_cond_signal(&condition), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(thread);
  EXPECT_EQ(woken, 1);
}

static void* take_token_by_clock(void* argument) {
  clockid_t clock = (clockid_t)(intptr_t)argument;
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  ++waiting;
  struct timespec time = in_ms(clock, kLongMs);
  while (tokens == 0) EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, clock, &time), 0);
  --tokens;
  ++woken;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

CASE(pthread_cond_clockwait, is_woken_in_time) {
  reset();
  pthread_t first = start(take_token_by_clock, (void*)(intptr_t)CLOCK_MONOTONIC);
  pthread_t second = start(take_token_by_clock, (void*)(intptr_t)CLOCK_REALTIME);
  lock_when_waiting(2);
  tokens = 2;
  EXPECT_EQ(pthread_cond_broadcast(&condition), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(first);
  finish(second);
  EXPECT_EQ(woken, 2);
}

CASE(pthread_cond_clockwait, etimedout) {
  static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  for (int i = 0; i < 2; ++i) {
    struct timespec time = in_ms(clocks[i], kShortMs);
    int result;
    do {
      result = pthread_cond_clockwait(&condition, &mutex, clocks[i], &time);
    } while (result == 0);
    EXPECT_EQ(result, ETIMEDOUT);
    EXPECT(has_passed(clocks[i], time));
  }
  EXPECT_EQ(in_thread(is_locked, NULL), 1);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

CASE(pthread_cond_clockwait, einval) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  struct timespec time = bad_time();
  EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &time), EINVAL);
  time = in_ms(CLOCK_REALTIME, kLongMs);
  EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static int lock_checked(void* unused) { return pthread_mutex_lock(&checked); }

// The wait unlocks the mutex: with errorcheck, a thread that does not own it gets an error.
CASE(pthread_cond_wait, eperm_errorcheck) {
  EXPECT_EQ(pthread_cond_wait(&condition, &checked), EPERM);
  struct timespec time = in_ms(CLOCK_REALTIME, kLongMs);
  EXPECT_EQ(pthread_cond_timedwait(&condition, &checked, &time), EPERM);
  EXPECT_EQ(in_thread(lock_checked, NULL), 0);
  EXPECT_EQ(pthread_cond_wait(&condition, &checked), EPERM);
}

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void* set_under_recursive(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  tokens = 1;
  EXPECT_EQ(pthread_cond_signal(&condition), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  return NULL;
}

CASE(pthread_cond_wait, recursive_mutex) {
  reset();
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  pthread_t thread = start(set_under_recursive, NULL);
  while (!tokens) EXPECT_EQ(pthread_cond_wait(&condition, &recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), EPERM);
  finish(thread);
}

// POSIX: it is safe to destroy a condition variable as soon as all waiters have been woken.
static pthread_cond_t* doomed;

static void* wait_on_doomed(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  ++waiting;
  while (!tokens) EXPECT_EQ(pthread_cond_wait(doomed, &mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

CASE(pthread_cond_destroy, after_broadcast) {
  reset();
  doomed = (pthread_cond_t*)malloc(sizeof *doomed);
  EXPECT_EQ(pthread_cond_init(doomed, NULL), 0);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(wait_on_doomed, NULL);
  lock_when_waiting(3);
  tokens = 1;
  EXPECT_EQ(pthread_cond_broadcast(doomed), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_cond_destroy(doomed), 0);
  free(doomed);
  for (int i = 0; i < 3; ++i) finish(threads[i]);
}

static struct timespec leave_at;

static void* leave_doomed(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  ++waiting;
  while (pthread_cond_timedwait(doomed, &mutex, &leave_at) == 0) {
  }
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

// glibc's waits until all of them have left.
CASE(pthread_cond_destroy, waits_for_waiters) {
  reset();
  doomed = (pthread_cond_t*)malloc(sizeof *doomed);
  EXPECT_EQ(pthread_cond_init(doomed, NULL), 0);
  leave_at = in_ms(CLOCK_REALTIME, 20 * kShortMs);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(leave_doomed, NULL);
  lock_when_waiting(3);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_cond_destroy(doomed), 0);
  EXPECT(has_passed(CLOCK_REALTIME, leave_at));
  for (int i = 0; i < 3; ++i) finish(threads[i]);
  free(doomed);
}
