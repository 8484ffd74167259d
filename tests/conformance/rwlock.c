// pthread_rwlock_*: kinds, exclusion, timed and clock variants, error numbers.
#define _GNU_SOURCE
#include "help.h"

static pthread_rwlock_t lock;

static void init_kind(int kind) {
  pthread_rwlockattr_t attributes;
  EXPECT_EQ(pthread_rwlockattr_init(&attributes), 0);
  EXPECT_EQ(pthread_rwlockattr_setkind_np(&attributes, kind), 0);
  EXPECT_EQ(pthread_rwlock_init(&lock, &attributes), 0);
  EXPECT_EQ(pthread_rwlockattr_destroy(&attributes), 0);
}

static int try_read_once(void* unused) {
  int result = pthread_rwlock_tryrdlock(&lock);
  if (result == 0) pthread_rwlock_unlock(&lock);
  return result;
}

static int try_write_once(void* unused) {
  int result = pthread_rwlock_trywrlock(&lock);
  if (result == 0) pthread_rwlock_unlock(&lock);
  return result;
}

CASE(pthread_rwlock_init, default_and_static) {
  static pthread_rwlock_t locks[] = {PTHREAD_RWLOCK_INITIALIZER,
                                     PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};
  EXPECT_EQ(pthread_rwlock_init(&lock, NULL), 0);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(in_thread(try_read_once, NULL), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pthread_rwlock_rdlock(&locks[i]), 0);
    EXPECT_EQ(pthread_rwlock_trywrlock(&locks[i]), EBUSY);
    EXPECT_EQ(pthread_rwlock_tryrdlock(&locks[i]), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&locks[i]), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&locks[i]), 0);
    EXPECT_EQ(pthread_rwlock_trywrlock(&locks[i]), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&locks[i]), 0);
    EXPECT_EQ(pthread_rwlock_destroy(&locks[i]), 0);
  }
}

static void expect_modes(int kind) {
  init_kind(kind);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(in_thread(try_read_once, NULL), 0);
  EXPECT_EQ(in_thread(try_write_once, NULL), EBUSY);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);  // twice by one thread, no writer waits
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(in_thread(try_write_once, NULL), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(in_thread(try_write_once, NULL), 0);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(in_thread(try_read_once, NULL), EBUSY);
  EXPECT_EQ(in_thread(try_write_once, NULL), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

CASE(pthread_rwlock_rdlock, prefer_reader) { expect_modes(PTHREAD_RWLOCK_PREFER_READER_NP); }
CASE(pthread_rwlock_rdlock, prefer_writer) { expect_modes(PTHREAD_RWLOCK_PREFER_WRITER_NP); }
CASE(pthread_rwlock_rdlock, prefer_writer_nonrecursive) {
  expect_modes(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
}

CASE(pthread_rwlock_wrlock, edeadlk) {
  init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_trywrlock(&lock), EBUSY);
  EXPECT_EQ(pthread_rwlock_tryrdlock(&lock), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

enum { kThreads = 4, kRounds = 50 };
static int first_half;
static int second_half;

static void* write_both(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
    ++first_half;
    ++second_half;
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  }
  return NULL;
}

static void* read_both(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
    EXPECT(first_half == second_half);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  }
  return NULL;
}

CASE(pthread_rwlock_wrlock, excludes) {
  static const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                              PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};
  for (int kind = 0; kind < 3; ++kind) {
    init_kind(kinds[kind]);
    first_half = second_half = 0;
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i) threads[i] = start(i % 2 ? write_both : read_both, NULL);
    for (int i = 0; i < kThreads; ++i) finish(threads[i]);
    EXPECT_EQ(first_half, kThreads / 2 * kRounds);
    EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
  }
}

static int readers_inside;

static void* read_together(void* unused) {
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  __atomic_add_fetch(&readers_inside, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&readers_inside, __ATOMIC_SEQ_CST) < 3) nap(1);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  return NULL;
}

CASE(pthread_rwlock_rdlock, readers_together) {
  init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
  readers_inside = 0;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(read_together, NULL);
  for (int i = 0; i < 3; ++i) finish(threads[i]);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

static void* write_once(void* unused) {
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  first_half = 1;
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  return NULL;
}

// Whether readers overtake a waiting writer depends on the kind.
static void expect_readers(int kind, int result) {
  init_kind(kind);
  first_half = 0;
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  pthread_t writer = start(write_once, NULL);
  int seen = 0;
  // A reader gets the lock until the writer waits.
  for (int i = 0; i < 1000 && seen != EBUSY; ++i) {
    nap(1);
    seen = in_thread(try_read_once, NULL);
    if (result == 0 && i == 5) break;
  }
  EXPECT_EQ(seen, result);
  EXPECT_EQ(first_half, 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  finish(writer);
  EXPECT_EQ(first_half, 1);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

CASE(pthread_rwlockattr_setkind_np, readers_pass_a_waiting_writer) {
  expect_readers(PTHREAD_RWLOCK_PREFER_READER_NP, 0);
  expect_readers(PTHREAD_RWLOCK_PREFER_WRITER_NP,
                 0);  // glibc: the same, because recursive reads must succeed
}

CASE(pthread_rwlockattr_setkind_np, readers_wait_for_a_writer) {
  expect_readers(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, EBUSY);
}

typedef int TimedLock(pthread_rwlock_t*, const struct timespec*);

static int clock_read(pthread_rwlock_t* which, const struct timespec* time) {
  return pthread_rwlock_clockrdlock(which, CLOCK_REALTIME, time);
}

static int clock_write(pthread_rwlock_t* which, const struct timespec* time) {
  return pthread_rwlock_clockwrlock(which, CLOCK_REALTIME, time);
}

static TimedLock* timed_lock;

static int lock_shortly(void* unused) {
  struct timespec time = in_ms(CLOCK_REALTIME, kShortMs);
  int result = timed_lock(&lock, &time);
  if (result == ETIMEDOUT) EXPECT(has_passed(CLOCK_REALTIME, time));
  if (result == 0) pthread_rwlock_unlock(&lock);
  return result;
}

static int lock_bad_time(void* unused) {
  struct timespec time = bad_time();
  return timed_lock(&lock, &time);
}

static int lock_long(void* unused) {
  struct timespec time = in_ms(CLOCK_REALTIME, kLongMs);
  int result = timed_lock(&lock, &time);
  if (result == 0) pthread_rwlock_unlock(&lock);
  return result;
}

// `beside_readers`: what a timed lock gives while a reader holds the lock.
static void expect_timed(TimedLock* function, int beside_readers) {
  timed_lock = function;
  init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
  EXPECT_EQ(in_thread(lock_shortly, NULL), 0);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(in_thread(lock_shortly, NULL), beside_readers);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(in_thread(lock_shortly, NULL), ETIMEDOUT);
  EXPECT_EQ(in_thread(lock_bad_time, NULL), EINVAL);
  EXPECT_EQ(lock_shortly(NULL), EDEADLK);
  struct Call call = {lock_long, NULL, -1};
  pthread_t thread = start(make_call, &call);
  nap(kShortMs);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  finish(thread);
  EXPECT_EQ(call.result, 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

CASE(pthread_rwlock_timedrdlock, results) { expect_timed(pthread_rwlock_timedrdlock, 0); }
CASE(pthread_rwlock_timedwrlock, results) { expect_timed(pthread_rwlock_timedwrlock, ETIMEDOUT); }
CASE(pthread_rwlock_clockrdlock, results) { expect_timed(clock_read, 0); }
CASE(pthread_rwlock_clockwrlock, results) { expect_timed(clock_write, ETIMEDOUT); }

static int read_by_monotonic(void* unused) {
  struct timespec time = in_ms(CLOCK_MONOTONIC, kShortMs);
  return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &time);
}

static int write_by_monotonic(void* unused) {
  struct timespec time = in_ms(CLOCK_MONOTONIC, kShortMs);
  return pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &time);
}

CASE(pthread_rwlock_clockrdlock, monotonic_and_einval) {
  init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
  struct timespec time = in_ms(CLOCK_MONOTONIC, kLongMs);
  EXPECT_EQ(pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
  EXPECT_EQ(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
  EXPECT_EQ(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &time), 0);
  EXPECT_EQ(in_thread(read_by_monotonic, NULL), ETIMEDOUT);
  EXPECT_EQ(in_thread(write_by_monotonic, NULL), ETIMEDOUT);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

// POSIX allows EBUSY; glibc does not check.
CASE(pthread_rwlock_destroy, while_held) {
  init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
  init_kind(PTHREAD_RWLOCK_DEFAULT_NP);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

static int child_tries(void* shared) {
  pthread_rwlock_t* which = (pthread_rwlock_t*)shared;
  if (pthread_rwlock_trywrlock(which) != EBUSY) return 1;
  if (pthread_rwlock_tryrdlock(which) != 0) return 2;
  return pthread_rwlock_unlock(which);
}

CASE(pthread_rwlock_rdlock, process_shared) {
  pthread_rwlock_t* shared = (pthread_rwlock_t*)shared_memory(sizeof *shared);
  pthread_rwlockattr_t attributes;
  EXPECT_EQ(pthread_rwlockattr_init(&attributes), 0);
  EXPECT_EQ(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_rwlock_init(shared, &attributes), 0);
  EXPECT_EQ(pthread_rwlock_rdlock(shared), 0);
  EXPECT_EQ(in_child(child_tries, shared), 0);
  EXPECT_EQ(pthread_rwlock_unlock(shared), 0);
  munmap(shared, sizeof *shared);
}
