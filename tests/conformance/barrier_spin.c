// pthread_barrier_* and pthread_spin_*.
#define _GNU_SOURCE
#include "help.h"

enum { kThreads = 4, kRounds = 5 };
static pthread_barrier_t barrier;
static int arrived[kRounds];
static int serial[kRounds];

static void* meet(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    __atomic_add_fetch(&arrived[i], 1, __ATOMIC_SEQ_CST);
    int result = pthread_barrier_wait(&barrier);
    EXPECT(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD)
      __atomic_add_fetch(&serial[i], 1, __ATOMIC_SEQ_CST);
    EXPECT_EQ(__atomic_load_n(&arrived[i], __ATOMIC_SEQ_CST), kThreads);
  }
  return NULL;
}

CASE(pthread_barrier_wait, meets_again_and_again) {
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, kThreads), 0);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) threads[i] = start(meet, NULL);
  for (int i = 0; i < kThreads; ++i) finish(threads[i]);
  for (int i = 0; i < kRounds; ++i) EXPECT_EQ(serial[i], 1);
  EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
}

CASE(pthread_barrier_wait, of_one) {
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 1), 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
  EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
}

CASE(pthread_barrier_init, einval) {
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)INT32_MAX + 1), EINVAL);
}

static void* wait_once(void* which) {
  int result = pthread_barrier_wait((pthread_barrier_t*)which);
  return (void*)(intptr_t)(result == PTHREAD_BARRIER_SERIAL_THREAD);
}

// The last thread to leave may destroy it while others are still leaving.
CASE(pthread_barrier_destroy, at_once) {
  for (int i = 0; i < 5; ++i) {
    pthread_barrier_t* which = (pthread_barrier_t*)malloc(sizeof *which);
    EXPECT_EQ(pthread_barrier_init(which, NULL, 2), 0);
    pthread_t thread = start(wait_once, which);
    int serial_here = wait_once(which) != NULL;
    EXPECT_EQ(pthread_barrier_destroy(which), 0);
    int serial_there = finish(thread) != NULL;
    free(which);
    EXPECT_EQ(serial_here + serial_there, 1);
  }
}

CASE(pthread_barrier_init, after_destroy) {
  for (unsigned count = 1; count < 4; ++count) {
    EXPECT_EQ(pthread_barrier_init(&barrier, NULL, count), 0);
    pthread_t threads[4];
    for (unsigned i = 1; i < count; ++i) threads[i] = start(wait_once, &barrier);
    wait_once(&barrier);
    for (unsigned i = 1; i < count; ++i) finish(threads[i]);
    EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
  }
}

CASE(pthread_barrier_wait, process_shared) {
  pthread_barrier_t* shared = (pthread_barrier_t*)shared_memory(sizeof *shared);
  pthread_barrierattr_t attributes;
  EXPECT_EQ(pthread_barrierattr_init(&attributes), 0);
  EXPECT_EQ(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_barrier_init(shared, &attributes, 2), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(wait_once(shared) != NULL);
  int serial_here = wait_once(shared) != NULL;
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status) + serial_here, 1);
  EXPECT_EQ(pthread_barrier_destroy(shared), 0);
  munmap(shared, sizeof *shared);
}

static pthread_spinlock_t spin;
static int counter;

static void* count(void* unused) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(pthread_spin_lock(&spin), 0);
    ++counter;
    EXPECT_EQ(pthread_spin_unlock(&spin), 0);
  }
  return NULL;
}

static int try_spin(void* unused) {
  int result = pthread_spin_trylock(&spin);
  if (result == 0) pthread_spin_unlock(&spin);
  return result;
}

CASE(pthread_spin_lock, excludes) {
  EXPECT_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
  counter = 0;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(count, NULL);
  for (int i = 0; i < 3; ++i) finish(threads[i]);
  EXPECT_EQ(counter, 300);
  EXPECT_EQ(pthread_spin_destroy(&spin), 0);
}

CASE(pthread_spin_trylock, ebusy) {
  EXPECT_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(in_thread(try_spin, NULL), 0);
  EXPECT_EQ(pthread_spin_lock(&spin), 0);
  EXPECT_EQ(in_thread(try_spin, NULL), EBUSY);
  EXPECT_EQ(pthread_spin_trylock(&spin), EBUSY);
  EXPECT_EQ(pthread_spin_unlock(&spin), 0);
  EXPECT_EQ(in_thread(try_spin, NULL), 0);
  EXPECT_EQ(pthread_spin_destroy(&spin), 0);
}

CASE(pthread_spin_lock, waits_for_the_holder) {
  EXPECT_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
  counter = 0;
  EXPECT_EQ(pthread_spin_lock(&spin), 0);
  pthread_t thread = start(count, NULL);
  nap(kShortMs);
  EXPECT_EQ(counter, 0);
  EXPECT_EQ(pthread_spin_unlock(&spin), 0);
  finish(thread);
  EXPECT_EQ(counter, 100);
  EXPECT_EQ(pthread_spin_destroy(&spin), 0);
}

struct Shared {
  pthread_spinlock_t spin;
  int counter;
};

static int count_shared(struct Shared* shared) {
  for (int i = 0; i < 100; ++i) {
    pthread_spin_lock(&shared->spin);
    ++shared->counter;
    pthread_spin_unlock(&shared->spin);
  }
  return 0;
}

CASE(pthread_spin_lock, process_shared) {
  struct Shared* shared = (struct Shared*)shared_memory(sizeof *shared);
  EXPECT_EQ(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(count_shared(shared));
  count_shared(shared);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(shared->counter, 200);
  munmap(shared, sizeof *shared);
}

CASE(pthread_spin_lock, unlocked_by_the_child) {
  struct Shared* shared = (struct Shared*)shared_memory(sizeof *shared);
  EXPECT_EQ(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_spin_lock(&shared->spin), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(pthread_spin_unlock(&shared->spin));
  EXPECT_EQ(pthread_spin_lock(&shared->spin), 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(shared, sizeof *shared);
}
