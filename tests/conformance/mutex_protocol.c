// Mutexes with a protocol (priority inheritance, priority protection) and those shared by
// processes.
#define _GNU_SOURCE
#include <sched.h>

#include "help.h"

static pthread_mutex_t mutex;

static void init_protocol(int kind, int protocol) {
  pthread_mutexattr_t attributes;
  EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
  EXPECT_EQ(pthread_mutexattr_settype(&attributes, kind), 0);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
  EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
}

static int try_once(void* lock) {
  int result = pthread_mutex_trylock((pthread_mutex_t*)lock);
  if (result == 0) pthread_mutex_unlock((pthread_mutex_t*)lock);
  return result;
}

static int unlock(void* lock) { return pthread_mutex_unlock((pthread_mutex_t*)lock); }

static int timed_lock_shortly(void* unused) {
  struct timespec time = in_ms(CLOCK_REALTIME, kShortMs);
  return pthread_mutex_timedlock(&mutex, &time);
}

static int clock_lock_shortly(void* unused) {
  struct timespec time = in_ms(CLOCK_REALTIME, kShortMs);
  return pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &time);
}

static int timed_lock_bad_time(void* unused) {
  struct timespec time = bad_time();
  return pthread_mutex_timedlock(&mutex, &time);
}

enum { kThreads = 4, kRounds = 50 };
static int counter;

static void* count(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    ++counter;
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  }
  return NULL;
}

CASE(priority_inherit, excludes) {
  init_protocol(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
  counter = 0;
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) threads[i] = start(count, NULL);
  for (int i = 0; i < kThreads; ++i) finish(threads[i]);
  EXPECT_EQ(counter, kThreads * kRounds);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(priority_inherit, recursive) {
  init_protocol(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, &mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, &mutex), EBUSY);
  EXPECT_EQ(in_thread(unlock, &mutex), EPERM);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(priority_inherit, errorcheck) {
  init_protocol(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EDEADLK);  // glibc: EBUSY without a protocol
  EXPECT_EQ(in_thread(unlock, &mutex), EPERM);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(priority_inherit, timed) {
  init_protocol(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
  EXPECT_EQ(timed_lock_shortly(NULL), 0);
  EXPECT_EQ(in_thread(timed_lock_shortly, NULL), ETIMEDOUT);
  EXPECT_EQ(in_thread(clock_lock_shortly, NULL), ETIMEDOUT);
  EXPECT_EQ(in_thread(timed_lock_bad_time, NULL), EINVAL);
  EXPECT_EQ(timed_lock_shortly(NULL), ETIMEDOUT);  // by the owner
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(in_thread(try_once, &mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* set_counter(void* unused) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  counter = 1;
  EXPECT_EQ(pthread_cond_signal(&condition), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

CASE(priority_inherit, condition) {
  init_protocol(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
  counter = 0;
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  pthread_t thread = start(set_counter, NULL);
  while (!counter) EXPECT_EQ(pthread_cond_wait(&condition, &mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(thread);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

// glibc raises the thread to the ceiling with sched_setscheduler: a thread of SCHED_OTHER cannot
// have a priority, and is refused.
static int lock_as_other(void* unused) { return pthread_mutex_lock(&mutex); }
static int try_lock_as_other(void* unused) { return pthread_mutex_trylock(&mutex); }

CASE(priority_protect, einval_without_real_time_policy) {
  init_protocol(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_PROTECT);
  EXPECT_EQ(in_thread(lock_as_other, NULL), EINVAL);
  EXPECT_EQ(in_thread(try_lock_as_other, NULL), EINVAL);
  EXPECT_EQ(in_thread(timed_lock_shortly, NULL), EINVAL);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

static int become_real_time(int priority) {
  struct sched_param parameters = {priority};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
}

static int use_ceiling(void* unused) {
  int low = sched_get_priority_min(SCHED_FIFO);
  if (become_real_time(low + 1) != 0) return EPERM;
  int ceiling = -1;
  EXPECT_EQ(pthread_mutex_setprioceiling(&mutex, low + 5, &ceiling), 0);
  EXPECT_EQ(ceiling, low);
  EXPECT_EQ(pthread_mutex_getprioceiling(&mutex, &ceiling), 0);
  EXPECT_EQ(ceiling, low + 5);
  EXPECT_EQ(pthread_mutex_setprioceiling(&mutex, 1000, &ceiling), EINVAL);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(become_real_time(low + 6), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), EINVAL);  // above the ceiling
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EINVAL);
  return 0;
}

// Without the right to real-time policies nothing can be checked here.
CASE(priority_protect, real_time_thread) {
  init_protocol(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_PROTECT);
  int result = in_thread(use_ceiling, NULL);
  EXPECT(result == 0 || result == EPERM);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

CASE(priority_protect, initial_ceiling) {
  pthread_mutexattr_t attributes;
  EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT), 0);
  EXPECT_EQ(pthread_mutexattr_setprioceiling(&attributes, 7), 0);
  EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  int ceiling = -1;
  EXPECT_EQ(pthread_mutex_getprioceiling(&mutex, &ceiling), 0);
  EXPECT_EQ(ceiling, 7);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
  EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
}

// glibc: a robust mutex cannot have a ceiling.
CASE(pthread_mutex_init, enotsup_robust_protect) {
  pthread_mutexattr_t attributes;
  EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT), 0);
  EXPECT_EQ(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
  EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), ENOTSUP);
  EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
}

struct Shared {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int counter;
};

static struct Shared* make_shared(int protocol) {
  struct Shared* shared = (struct Shared*)shared_memory(sizeof *shared);
  pthread_mutexattr_t attributes;
  EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
  EXPECT_EQ(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
  EXPECT_EQ(pthread_mutex_init(&shared->mutex, &attributes), 0);
  pthread_condattr_t condition_attributes;
  EXPECT_EQ(pthread_condattr_init(&condition_attributes), 0);
  EXPECT_EQ(pthread_condattr_setpshared(&condition_attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_cond_init(&shared->condition, &condition_attributes), 0);
  return shared;
}

CASE(process_shared_mutex, within_a_process) {
  struct Shared* shared = make_shared(PTHREAD_PRIO_NONE);
  EXPECT_EQ(pthread_mutex_lock(&shared->mutex), 0);
  EXPECT_EQ(in_thread(try_once, &shared->mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&shared->mutex), 0);
  EXPECT_EQ(in_thread(try_once, &shared->mutex), 0);
  EXPECT_EQ(pthread_mutex_destroy(&shared->mutex), 0);
  munmap(shared, sizeof *shared);
}

CASE(process_shared_mutex, held_by_the_parent) {
  struct Shared* shared = make_shared(PTHREAD_PRIO_NONE);
  EXPECT_EQ(pthread_mutex_lock(&shared->mutex), 0);
  EXPECT_EQ(in_child(try_once, &shared->mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&shared->mutex), 0);
  EXPECT_EQ(in_child(try_once, &shared->mutex), 0);
  munmap(shared, sizeof *shared);
}

static int unlock_for_parent(void* mutex) {
  nap(kShortMs);
  return pthread_mutex_unlock((pthread_mutex_t*)mutex);
}

// A plain one does not know its owner; glibc lets any process unlock it.
CASE(process_shared_mutex, unlocked_by_the_child) {
  struct Shared* shared = make_shared(PTHREAD_PRIO_NONE);
  EXPECT_EQ(pthread_mutex_lock(&shared->mutex), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(unlock_for_parent(&shared->mutex));
  EXPECT_EQ(pthread_mutex_lock(&shared->mutex), 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(shared, sizeof *shared);
}

static int count_shared(void* argument) {
  struct Shared* shared = (struct Shared*)argument;
  for (int i = 0; i < kRounds; ++i) {
    if (pthread_mutex_lock(&shared->mutex) != 0) return 1;
    ++shared->counter;
    if (pthread_mutex_unlock(&shared->mutex) != 0) return 2;
  }
  return 0;
}

static void expect_exclusion_of_processes(int protocol) {
  struct Shared* shared = make_shared(protocol);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(count_shared(shared));
  EXPECT_EQ(count_shared(shared), 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared->counter, 2 * kRounds);
  munmap(shared, sizeof *shared);
}

CASE(process_shared_mutex, excludes) { expect_exclusion_of_processes(PTHREAD_PRIO_NONE); }
CASE(process_shared_mutex, excludes_inherit) {
  expect_exclusion_of_processes(PTHREAD_PRIO_INHERIT);
}

static int answer(struct Shared* shared) {
  pthread_mutex_lock(&shared->mutex);
  while (shared->counter != 1) pthread_cond_wait(&shared->condition, &shared->mutex);
  shared->counter = 2;
  pthread_cond_broadcast(&shared->condition);
  return pthread_mutex_unlock(&shared->mutex);
}

CASE(process_shared_condition, ping_pong) {
  struct Shared* shared = make_shared(PTHREAD_PRIO_NONE);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(answer(shared));
  EXPECT_EQ(pthread_mutex_lock(&shared->mutex), 0);
  shared->counter = 1;
  EXPECT_EQ(pthread_cond_broadcast(&shared->condition), 0);
  while (shared->counter != 2) EXPECT_EQ(pthread_cond_wait(&shared->condition, &shared->mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&shared->mutex), 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(shared, sizeof *shared);
}
