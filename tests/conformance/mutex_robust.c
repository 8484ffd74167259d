// Robust mutexes: EOWNERDEAD, ENOTRECOVERABLE, pthread_mutex_consistent; owners that are threads
// and owners that are processes.
#define _GNU_SOURCE
#include "help.h"

struct Shared {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int value;
};

static struct Shared memory;

static void init_robust(pthread_mutex_t* mutex, int kind, int protocol, int pshared) {
  pthread_mutexattr_t attributes;
  EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
  EXPECT_EQ(pthread_mutexattr_settype(&attributes, kind), 0);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
  EXPECT_EQ(pthread_mutexattr_setpshared(&attributes, pshared), 0);
  EXPECT_EQ(pthread_mutex_init(mutex, &attributes), 0);
  EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
}

static void init_plain_robust(void) {
  init_robust(&memory.mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
}

static int lock(void* mutex) { return pthread_mutex_lock((pthread_mutex_t*)mutex); }
static int unlock(void* mutex) { return pthread_mutex_unlock((pthread_mutex_t*)mutex); }
static int try_lock(void* mutex) { return pthread_mutex_trylock((pthread_mutex_t*)mutex); }

static int timed_lock(void* mutex) {
  struct timespec time = in_ms(CLOCK_REALTIME, kLongMs);
  return pthread_mutex_timedlock((pthread_mutex_t*)mutex, &time);
}

static int clock_lock(void* mutex) {
  struct timespec time = in_ms(CLOCK_MONOTONIC, kLongMs);
  return pthread_mutex_clocklock((pthread_mutex_t*)mutex, CLOCK_MONOTONIC, &time);
}

static int lock_and_exit(void* mutex) {
  EXPECT_EQ(pthread_mutex_lock((pthread_mutex_t*)mutex), 0);
  pthread_exit(NULL);
}

// The owner dies, `take` reports it, the state is repaired: the mutex can be used as before.
static void expect_recovery(int (*take)(void*)) {
  EXPECT_EQ(in_thread(lock, &memory.mutex), 0);
  EXPECT_EQ(take(&memory.mutex), EOWNERDEAD);
  EXPECT_EQ(in_thread(try_lock, &memory.mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(take(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
}

// The owner dies, and the next one does not repair the state.
static void expect_no_recovery(int (*take)(void*)) {
  EXPECT_EQ(in_thread(lock, &memory.mutex), 0);
  EXPECT_EQ(take(&memory.mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(take(&memory.mutex), ENOTRECOVERABLE);
  // glibc 2.36 leaves the mutex locked after a trylock with this result.
  if (take == try_lock) return;
  EXPECT_EQ(take(&memory.mutex), ENOTRECOVERABLE);
  EXPECT_EQ(in_thread(take, &memory.mutex), ENOTRECOVERABLE);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_lock, robust_without_deaths) {
  init_plain_robust();
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  EXPECT_EQ(in_thread(try_lock, &memory.mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_lock, eownerdead) {
  init_plain_robust();
  expect_recovery(lock);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_trylock, eownerdead) {
  init_plain_robust();
  expect_recovery(try_lock);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_timedlock, eownerdead) {
  init_plain_robust();
  expect_recovery(timed_lock);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_clocklock, eownerdead) {
  init_plain_robust();
  expect_recovery(clock_lock);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_lock, enotrecoverable) {
  init_plain_robust();
  expect_no_recovery(lock);
}

CASE(pthread_mutex_trylock, enotrecoverable) {
  init_plain_robust();
  expect_no_recovery(try_lock);
}

CASE(pthread_mutex_timedlock, enotrecoverable) {
  init_plain_robust();
  expect_no_recovery(timed_lock);
}

CASE(pthread_mutex_clocklock, enotrecoverable) {
  init_plain_robust();
  expect_no_recovery(clock_lock);
}

CASE(pthread_mutex_lock, eownerdead_after_pthread_exit) {
  init_plain_robust();
  in_thread(lock_and_exit, &memory.mutex);
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_lock, eownerdead_passes_on) {
  init_plain_robust();
  EXPECT_EQ(in_thread(lock, &memory.mutex), 0);
  EXPECT_EQ(in_thread(lock, &memory.mutex), EOWNERDEAD);  // dies with it as well
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_lock, robust_kinds) {
  static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                              PTHREAD_MUTEX_ERRORCHECK};
  static const int by_owner[] = {EBUSY, 0, EDEADLK};  // glibc: not EBUSY for errorcheck
  static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
  for (int protocol = 0; protocol < 2; ++protocol) {
    for (int kind = 0; kind < 3; ++kind) {
      init_robust(&memory.mutex, kinds[kind], protocols[protocol], PTHREAD_PROCESS_PRIVATE);
      expect_recovery(lock);
      expect_recovery(try_lock);
      EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
      EXPECT_EQ(pthread_mutex_trylock(&memory.mutex), by_owner[kind]);
      if (kinds[kind] == PTHREAD_MUTEX_ERRORCHECK)
        EXPECT_EQ(pthread_mutex_lock(&memory.mutex), EDEADLK);
      if (kinds[kind] == PTHREAD_MUTEX_RECURSIVE) EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
      EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
      EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), EPERM);
      EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
    }
  }
}

CASE(pthread_mutex_unlock, eperm_robust) {
  init_plain_robust();
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  EXPECT_EQ(in_thread(unlock, &memory.mutex), EPERM);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_consistent, einval) {
  static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_EQ(pthread_mutex_consistent(&plain), EINVAL);
  init_plain_robust();
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), EINVAL);
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), EINVAL);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_consistent_np, repairs) {
  init_plain_robust();
  EXPECT_EQ(in_thread(lock, &memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent_np(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

static void* hold_and_die(void* held) {
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  __atomic_store_n((int*)held, 1, __ATOMIC_SEQ_CST);
  nap(kShortMs);
  return NULL;
}

// A thread that waits while the owner dies is told.
CASE(pthread_mutex_lock, eownerdead_wakes_a_waiter) {
  init_plain_robust();
  int held = 0;
  pthread_t owner = start(hold_and_die, &held);
  while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST)) nap(1);
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), EOWNERDEAD);
  finish(owner);
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

static void* signal_and_die(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  memory.value = 1;
  EXPECT_EQ(pthread_cond_signal(&memory.condition), 0);
  return NULL;
}

CASE(pthread_cond_wait, eownerdead) {
  init_plain_robust();
  EXPECT_EQ(pthread_cond_init(&memory.condition, NULL), 0);
  memory.value = 0;
  EXPECT_EQ(pthread_mutex_lock(&memory.mutex), 0);
  pthread_t thread = start(signal_and_die, NULL);
  int result = 0;
  while (!memory.value && result == 0) result = pthread_cond_wait(&memory.condition, &memory.mutex);
  EXPECT_EQ(result, EOWNERDEAD);
  EXPECT_EQ(memory.value, 1);
  finish(thread);
  EXPECT_EQ(pthread_mutex_consistent(&memory.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&memory.mutex), 0);
  EXPECT_EQ(pthread_cond_destroy(&memory.condition), 0);
  EXPECT_EQ(pthread_mutex_destroy(&memory.mutex), 0);
}

CASE(pthread_mutex_lock, robust_list_of_many) {
  pthread_mutex_t mutexes[8];
  for (int i = 0; i < 8; ++i) {
    init_robust(&mutexes[i], PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
    EXPECT_EQ(pthread_mutex_lock(&mutexes[i]), 0);
  }
  for (int i = 0; i < 8; i += 2) EXPECT_EQ(pthread_mutex_unlock(&mutexes[i]), 0);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(in_thread(try_lock, &mutexes[i]), i % 2 ? EBUSY : 0);
  for (int i = 0; i < 8; i += 2) {
    EXPECT_EQ(pthread_mutex_lock(&mutexes[i]), EOWNERDEAD);
    EXPECT_EQ(pthread_mutex_consistent(&mutexes[i]), 0);
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(pthread_mutex_unlock(&mutexes[i]), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutexes[i]), 0);
  }
}

static void expect_recovery_from_child(int protocol) {
  struct Shared* shared = (struct Shared*)shared_memory(sizeof *shared);
  init_robust(&shared->mutex, PTHREAD_MUTEX_NORMAL, protocol, PTHREAD_PROCESS_SHARED);
  EXPECT_EQ(in_child(lock, &shared->mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&shared->mutex), EOWNERDEAD);
  EXPECT_EQ(in_child(try_lock, &shared->mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_consistent(&shared->mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&shared->mutex), 0);
  EXPECT_EQ(in_child(lock, &shared->mutex), 0);
  EXPECT_EQ(in_child(try_lock, &shared->mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_trylock(&shared->mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_unlock(&shared->mutex), 0);
  EXPECT_EQ(in_child(lock, &shared->mutex), ENOTRECOVERABLE);
  munmap(shared, sizeof *shared);
}

CASE(pthread_mutex_lock, eownerdead_child_process) {
  expect_recovery_from_child(PTHREAD_PRIO_NONE);
}

CASE(pthread_mutex_lock, eownerdead_child_process_inherit) {
  expect_recovery_from_child(PTHREAD_PRIO_INHERIT);
}
