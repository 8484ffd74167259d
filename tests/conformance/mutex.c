// pthread_mutex_*: the kinds normal, recursive, errorcheck and adaptive, timed and clock variants.
#define _GNU_SOURCE
#include "help.h"

static pthread_mutex_t mutex;

static void init_kind(int kind) {
  pthread_mutexattr_t attributes;
  EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
  EXPECT_EQ(pthread_mutexattr_settype(&attributes, kind), 0);
  EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
}

static int lock(void* unused) { return pthread_mutex_lock(&mutex); }
static int unlock(void* unused) { return pthread_mutex_unlock(&mutex); }

static int try_once(void* unused) {
  int result = pthread_mutex_trylock(&mutex);
  if (result == 0) pthread_mutex_unlock(&mutex);
  return result;
}

static int timed_lock_for(long ms) {
  struct timespec time = in_ms(CLOCK_REALTIME, ms);
  int result = pthread_mutex_timedlock(&mutex, &time);
  if (result == ETIMEDOUT) EXPECT(has_passed(CLOCK_REALTIME, time));
  return result;
}

static int timed_lock_shortly(void* unused) { return timed_lock_for(kShortMs); }

static int clock_lock_for(clockid_t clock, long ms) {
  struct timespec time = in_ms(clock, ms);
  int result = pthread_mutex_clocklock(&mutex, clock, &time);
  if (result == ETIMEDOUT) EXPECT(has_passed(clock, time));
  return result;
}

static int clock_lock_shortly(void* clock) {
  return clock_lock_for((clockid_t)(intptr_t)clock, kShortMs);
}

static int timed_lock_bad_time(void* unused) {
  struct timespec time = bad_time();
  return pthread_mutex_timedlock(&mutex, &time);
}

static int clock_lock_bad_time(void* unused) {
  struct timespec time = bad_time();
  return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &time);
}

CASE(pthread_mutex_init, default_kind) {
  EXPECT_EQ(pthread_mutex_init(&mutex, NULL), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, NULL), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, NULL), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_init, again_after_destroy) {
  for (int i = 0; i < 3; ++i) {
    init_kind(i == 1 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK);
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_lock(&mutex), i == 1 ? 0 : EDEADLK);
    if (i == 1) EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
  }
}

CASE(pthread_mutex_init, static_initializers) {
  static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  EXPECT_EQ(pthread_mutex_lock(&plain), 0);
  EXPECT_EQ(pthread_mutex_trylock(&plain), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&plain), 0);
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), EPERM);
  EXPECT_EQ(pthread_mutex_lock(&errorcheck), 0);
  EXPECT_EQ(pthread_mutex_lock(&errorcheck), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&errorcheck), 0);
  EXPECT_EQ(pthread_mutex_lock(&adaptive), 0);
  EXPECT_EQ(pthread_mutex_trylock(&adaptive), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&adaptive), 0);
}

enum { kThreads = 4, kRounds = 100 };
static int counter;

static void* count(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    ++counter;
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  }
  return NULL;
}

static void expect_exclusion(int kind) {
  init_kind(kind);
  counter = 0;
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) threads[i] = start(count, NULL);
  for (int i = 0; i < kThreads; ++i) finish(threads[i]);
  EXPECT_EQ(counter, kThreads * kRounds);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_lock, excludes_normal) { expect_exclusion(PTHREAD_MUTEX_NORMAL); }
CASE(pthread_mutex_lock, excludes_recursive) { expect_exclusion(PTHREAD_MUTEX_RECURSIVE); }
CASE(pthread_mutex_lock, excludes_errorcheck) { expect_exclusion(PTHREAD_MUTEX_ERRORCHECK); }
CASE(pthread_mutex_lock, excludes_adaptive) { expect_exclusion(PTHREAD_MUTEX_ADAPTIVE_NP); }

CASE(pthread_mutex_lock, edeadlk_errorcheck) {
  init_kind(PTHREAD_MUTEX_ERRORCHECK);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
  EXPECT_EQ(in_thread(try_once, NULL), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, NULL), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_lock, recursive_counts) {
  init_kind(PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(in_thread(try_once, NULL), EBUSY);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  }
  EXPECT_EQ(in_thread(try_once, NULL), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_lock, waits_for_the_holder) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  counter = 0;
  pthread_t thread = start(count, NULL);
  nap(kShortMs);
  EXPECT_EQ(counter, 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(thread);
  EXPECT_EQ(counter, kRounds);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

static void expect_trylock(int kind, int by_owner) {
  init_kind(kind);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), by_owner);
  EXPECT_EQ(in_thread(try_once, NULL), EBUSY);
  if (by_owner == 0) EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, NULL), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, NULL), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_trylock, ebusy_normal) { expect_trylock(PTHREAD_MUTEX_NORMAL, EBUSY); }
CASE(pthread_mutex_trylock, ebusy_errorcheck) { expect_trylock(PTHREAD_MUTEX_ERRORCHECK, EBUSY); }
CASE(pthread_mutex_trylock, ebusy_adaptive) { expect_trylock(PTHREAD_MUTEX_ADAPTIVE_NP, EBUSY); }
CASE(pthread_mutex_trylock, recursive_owner) { expect_trylock(PTHREAD_MUTEX_RECURSIVE, 0); }

static void expect_eperm(int kind) {
  init_kind(kind);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
  EXPECT_EQ(in_thread(lock, NULL), 0);  // by a thread that has ended
  EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
  EXPECT_EQ(in_thread(try_once, NULL), EBUSY);

  init_kind(kind);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(in_thread(unlock, NULL), EPERM);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_unlock, eperm_errorcheck) { expect_eperm(PTHREAD_MUTEX_ERRORCHECK); }
CASE(pthread_mutex_unlock, eperm_recursive) { expect_eperm(PTHREAD_MUTEX_RECURSIVE); }

CASE(pthread_mutex_destroy, ebusy_locked) {
  static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK,
                              PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int i = 0; i < 4; ++i) {
    init_kind(kinds[i]);
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutex), EBUSY);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
  }
}

CASE(pthread_mutex_timedlock, takes_a_free_lock) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(timed_lock_for(kLongMs), 0);
  EXPECT_EQ(in_thread(try_once, NULL), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

// POSIX: the validity of the time need not be checked if the lock can be taken at once.
CASE(pthread_mutex_timedlock, free_lock_needs_no_time) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(timed_lock_for(-1000), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(timed_lock_bad_time(NULL), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

static void* unlock_after_nap(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  __atomic_store_n(&counter, 1, __ATOMIC_SEQ_CST);
  nap(kShortMs);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

static pthread_t start_holder(void) {
  counter = 0;
  pthread_t thread = start(unlock_after_nap, NULL);
  while (!__atomic_load_n(&counter, __ATOMIC_SEQ_CST)) nap(1);
  return thread;
}

CASE(pthread_mutex_timedlock, waits_for_the_holder) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  pthread_t holder = start_holder();
  EXPECT_EQ(timed_lock_for(kLongMs), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(holder);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

static void expect_timed_out(int kind, int by_owner) {
  init_kind(kind);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(in_thread(timed_lock_shortly, NULL), ETIMEDOUT);
  EXPECT_EQ(timed_lock_for(kShortMs), by_owner);
  if (by_owner == 0) EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, NULL), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_timedlock, etimedout_normal) {
  expect_timed_out(PTHREAD_MUTEX_NORMAL, ETIMEDOUT);
}
CASE(pthread_mutex_timedlock, etimedout_adaptive) {
  expect_timed_out(PTHREAD_MUTEX_ADAPTIVE_NP, ETIMEDOUT);
}
CASE(pthread_mutex_timedlock, etimedout_recursive) { expect_timed_out(PTHREAD_MUTEX_RECURSIVE, 0); }
CASE(pthread_mutex_timedlock, edeadlk_errorcheck) {
  expect_timed_out(PTHREAD_MUTEX_ERRORCHECK, EDEADLK);
}

CASE(pthread_mutex_timedlock, einval_time) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(in_thread(timed_lock_bad_time, NULL), EINVAL);
  struct timespec negative = {0, -1};
  EXPECT_EQ(pthread_mutex_timedlock(&mutex, &negative), EINVAL);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_clocklock, takes_a_free_lock) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(clock_lock_for(CLOCK_MONOTONIC, kLongMs), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(clock_lock_for(CLOCK_REALTIME, kLongMs), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_clocklock, waits_for_the_holder) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  pthread_t holder = start_holder();
  EXPECT_EQ(clock_lock_for(CLOCK_MONOTONIC, kLongMs), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(holder);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_clocklock, etimedout) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(in_thread(clock_lock_shortly, (void*)(intptr_t)CLOCK_MONOTONIC), ETIMEDOUT);
  EXPECT_EQ(in_thread(clock_lock_shortly, (void*)(intptr_t)CLOCK_REALTIME), ETIMEDOUT);
  EXPECT_EQ(clock_lock_for(CLOCK_MONOTONIC, -1000), ETIMEDOUT);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_clocklock, edeadlk_errorcheck) {
  init_kind(PTHREAD_MUTEX_ERRORCHECK);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(clock_lock_for(CLOCK_MONOTONIC, kLongMs), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_clocklock, einval_clock_and_time) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  struct timespec time = in_ms(CLOCK_MONOTONIC, kLongMs);
  EXPECT_EQ(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
  EXPECT_EQ(pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, &time), EINVAL);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(in_thread(clock_lock_bad_time, NULL), EINVAL);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(pthread_mutex_getprioceiling, einval_without_protocol) {
  init_kind(PTHREAD_MUTEX_NORMAL);
  int ceiling = -1;
  EXPECT_EQ(pthread_mutex_getprioceiling(&mutex, &ceiling), EINVAL);
  EXPECT_EQ(pthread_mutex_setprioceiling(&mutex, 1, &ceiling), EINVAL);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}
