// Attributes of mutexes, condition variables, read-write locks and barriers: defaults, what is
// stored, what is refused.
#define _GNU_SOURCE
#include <sched.h>

#include "help.h"

static pthread_mutexattr_t mutex_attributes;
static pthread_condattr_t condition_attributes;
static pthread_rwlockattr_t rwlock_attributes;
static pthread_barrierattr_t barrier_attributes;

CASE(pthread_mutexattr_init, defaults) {
  int value = -1;
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_gettype(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_MUTEX_DEFAULT);
  EXPECT_EQ(pthread_mutexattr_getprotocol(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PRIO_NONE);
  EXPECT_EQ(pthread_mutexattr_getpshared(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_PRIVATE);
  EXPECT_EQ(pthread_mutexattr_getrobust(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_MUTEX_STALLED);
  EXPECT_EQ(pthread_mutexattr_destroy(&mutex_attributes), 0);
}

CASE(pthread_mutexattr_settype, stores) {
  static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                              PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP,
                              PTHREAD_MUTEX_DEFAULT};
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  for (int i = 0; i < 5; ++i) {
    int value = -1;
    EXPECT_EQ(pthread_mutexattr_settype(&mutex_attributes, kinds[i]), 0);
    EXPECT_EQ(pthread_mutexattr_gettype(&mutex_attributes, &value), 0);
    EXPECT_EQ(value, kinds[i]);
  }
}

CASE(pthread_mutexattr_settype, einval) {
  int value = -1;
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_settype(&mutex_attributes, PTHREAD_MUTEX_RECURSIVE), 0);
  EXPECT_EQ(pthread_mutexattr_settype(&mutex_attributes, 17), EINVAL);
  EXPECT_EQ(pthread_mutexattr_settype(&mutex_attributes, -1), EINVAL);
  EXPECT_EQ(pthread_mutexattr_gettype(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_MUTEX_RECURSIVE);
}

CASE(pthread_mutexattr_setprotocol, stores) {
  static const int protocols[] = {PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT, PTHREAD_PRIO_NONE};
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  for (int i = 0; i < 3; ++i) {
    int value = -1;
    EXPECT_EQ(pthread_mutexattr_setprotocol(&mutex_attributes, protocols[i]), 0);
    EXPECT_EQ(pthread_mutexattr_getprotocol(&mutex_attributes, &value), 0);
    EXPECT_EQ(value, protocols[i]);
  }
}

CASE(pthread_mutexattr_setprotocol, einval) {
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&mutex_attributes, 17), EINVAL);
}

CASE(pthread_mutexattr_setprioceiling, stores) {
  int value = -1;
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_getprioceiling(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, sched_get_priority_min(SCHED_FIFO));
  EXPECT_EQ(pthread_mutexattr_setprioceiling(&mutex_attributes, 9), 0);
  EXPECT_EQ(pthread_mutexattr_getprioceiling(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, 9);
}

CASE(pthread_mutexattr_setprioceiling, einval) {
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(
      pthread_mutexattr_setprioceiling(&mutex_attributes, sched_get_priority_max(SCHED_FIFO) + 1),
      EINVAL);
  EXPECT_EQ(
      pthread_mutexattr_setprioceiling(&mutex_attributes, sched_get_priority_min(SCHED_FIFO) - 1),
      EINVAL);
}

CASE(pthread_mutexattr_setpshared, stores) {
  int value = -1;
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_mutexattr_getpshared(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_SHARED);
  EXPECT_EQ(pthread_mutexattr_setpshared(&mutex_attributes, 17), EINVAL);
}

CASE(pthread_mutexattr_setrobust, stores) {
  int value = -1;
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setrobust(&mutex_attributes, PTHREAD_MUTEX_ROBUST), 0);
  EXPECT_EQ(pthread_mutexattr_getrobust(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_MUTEX_ROBUST);
  EXPECT_EQ(pthread_mutexattr_setrobust(&mutex_attributes, PTHREAD_MUTEX_STALLED), 0);
  EXPECT_EQ(pthread_mutexattr_getrobust(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_MUTEX_STALLED);
  EXPECT_EQ(pthread_mutexattr_setrobust(&mutex_attributes, 17), EINVAL);
}

CASE(pthread_mutexattr_setrobust_np, stores) {
  int value = -1;
  EXPECT_EQ(pthread_mutexattr_init(&mutex_attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setrobust_np(&mutex_attributes, PTHREAD_MUTEX_ROBUST_NP), 0);
  EXPECT_EQ(pthread_mutexattr_getrobust_np(&mutex_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_MUTEX_ROBUST_NP);
  EXPECT_EQ(pthread_mutexattr_setrobust_np(&mutex_attributes, 17), EINVAL);
}

CASE(pthread_condattr_init, defaults) {
  int value = -1;
  clockid_t clock = -1;
  EXPECT_EQ(pthread_condattr_init(&condition_attributes), 0);
  EXPECT_EQ(pthread_condattr_getpshared(&condition_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_PRIVATE);
  EXPECT_EQ(pthread_condattr_getclock(&condition_attributes, &clock), 0);
  EXPECT_EQ(clock, CLOCK_REALTIME);
  EXPECT_EQ(pthread_condattr_destroy(&condition_attributes), 0);
}

CASE(pthread_condattr_setclock, stores) {
  clockid_t clock = -1;
  EXPECT_EQ(pthread_condattr_init(&condition_attributes), 0);
  EXPECT_EQ(pthread_condattr_setclock(&condition_attributes, CLOCK_MONOTONIC), 0);
  EXPECT_EQ(pthread_condattr_getclock(&condition_attributes, &clock), 0);
  EXPECT_EQ(clock, CLOCK_MONOTONIC);
  EXPECT_EQ(pthread_condattr_setclock(&condition_attributes, CLOCK_REALTIME), 0);
  EXPECT_EQ(pthread_condattr_getclock(&condition_attributes, &clock), 0);
  EXPECT_EQ(clock, CLOCK_REALTIME);
}

CASE(pthread_condattr_setclock, einval) {
  EXPECT_EQ(pthread_condattr_init(&condition_attributes), 0);
  EXPECT_EQ(pthread_condattr_setclock(&condition_attributes, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
  EXPECT_EQ(pthread_condattr_setclock(&condition_attributes, CLOCK_THREAD_CPUTIME_ID), EINVAL);
  EXPECT_EQ(pthread_condattr_setclock(&condition_attributes, -99), EINVAL);
}

CASE(pthread_condattr_setpshared, stores) {
  int value = -1;
  EXPECT_EQ(pthread_condattr_init(&condition_attributes), 0);
  EXPECT_EQ(pthread_condattr_setpshared(&condition_attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_condattr_getpshared(&condition_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_SHARED);
  EXPECT_EQ(pthread_condattr_setpshared(&condition_attributes, 17), EINVAL);
}

CASE(pthread_rwlockattr_init, defaults) {
  int value = -1;
  EXPECT_EQ(pthread_rwlockattr_init(&rwlock_attributes), 0);
  EXPECT_EQ(pthread_rwlockattr_getpshared(&rwlock_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_PRIVATE);
  EXPECT_EQ(pthread_rwlockattr_getkind_np(&rwlock_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_RWLOCK_DEFAULT_NP);
  EXPECT_EQ(pthread_rwlockattr_destroy(&rwlock_attributes), 0);
}

CASE(pthread_rwlockattr_setkind_np, stores) {
  static const int kinds[] = {PTHREAD_RWLOCK_PREFER_WRITER_NP,
                              PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP,
                              PTHREAD_RWLOCK_PREFER_READER_NP};
  EXPECT_EQ(pthread_rwlockattr_init(&rwlock_attributes), 0);
  for (int i = 0; i < 3; ++i) {
    int value = -1;
    EXPECT_EQ(pthread_rwlockattr_setkind_np(&rwlock_attributes, kinds[i]), 0);
    EXPECT_EQ(pthread_rwlockattr_getkind_np(&rwlock_attributes, &value), 0);
    EXPECT_EQ(value, kinds[i]);
  }
  EXPECT_EQ(pthread_rwlockattr_setkind_np(&rwlock_attributes, 17), EINVAL);
}

CASE(pthread_rwlockattr_setpshared, stores) {
  int value = -1;
  EXPECT_EQ(pthread_rwlockattr_init(&rwlock_attributes), 0);
  EXPECT_EQ(pthread_rwlockattr_setpshared(&rwlock_attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_rwlockattr_getpshared(&rwlock_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_SHARED);
  EXPECT_EQ(pthread_rwlockattr_setpshared(&rwlock_attributes, 17), EINVAL);
}

CASE(pthread_barrierattr_init, defaults) {
  int value = -1;
  EXPECT_EQ(pthread_barrierattr_init(&barrier_attributes), 0);
  EXPECT_EQ(pthread_barrierattr_getpshared(&barrier_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_PRIVATE);
  EXPECT_EQ(pthread_barrierattr_destroy(&barrier_attributes), 0);
}

CASE(pthread_barrierattr_setpshared, stores) {
  int value = -1;
  EXPECT_EQ(pthread_barrierattr_init(&barrier_attributes), 0);
  EXPECT_EQ(pthread_barrierattr_setpshared(&barrier_attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_barrierattr_getpshared(&barrier_attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_PROCESS_SHARED);
  EXPECT_EQ(pthread_barrierattr_setpshared(&barrier_attributes, 17), EINVAL);
}
