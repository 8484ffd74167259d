// Locks with a deadline: mutexes, rwlocks and semaphores, against both clocks; the deadline
// passes, or the lock is freed in time, or the deadline is not a time at all.
// EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "../check.h"

static const long kShort = 3000000;      // 3 ms
static const long kLong = 10000000000L;  // 10 s: never passes here

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static sem_t taken, let_go;

static long now(clockid_t clock) {
  struct timespec t;
  CHECK(clock_gettime(clock, &t) == 0);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static struct timespec after(clockid_t clock, long nanoseconds) {
  long t = now(clock) + nanoseconds;
  return (struct timespec){t / 1000000000L, t % 1000000000L};
}

// Holds everything until told to release it.
static void* hold(void* arg) {
  (void)arg;
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
  CHECK(sem_wait(&semaphore) == 0);
  sem_post(&taken);
  sem_wait(&let_go);
  CHECK(sem_post(&semaphore) == 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  return NULL;
}

// Each of these must wait until `deadline` and give up.
static void expect_timeout(clockid_t clock) {
  long start = now(clock);
  struct timespec deadline = after(clock, kShort);
  CHECK(pthread_mutex_clocklock(&mutex, clock, &deadline) == ETIMEDOUT);
  CHECK(now(clock) - start >= kShort);
  CHECK(pthread_rwlock_clockrdlock(&rwlock, clock, &deadline) == ETIMEDOUT);
  CHECK(pthread_rwlock_clockwrlock(&rwlock, clock, &deadline) == ETIMEDOUT);
  errno = 0;
  CHECK(sem_clockwait(&semaphore, clock, &deadline) == -1 && errno == ETIMEDOUT);
  if (clock != CLOCK_REALTIME) return;
  deadline = after(clock, kShort);
  CHECK(pthread_mutex_timedlock(&mutex, &deadline) == ETIMEDOUT);
  CHECK(pthread_rwlock_timedrdlock(&rwlock, &deadline) == ETIMEDOUT);
  CHECK(pthread_rwlock_timedwrlock(&rwlock, &deadline) == ETIMEDOUT);
  errno = 0;
  CHECK(sem_timedwait(&semaphore, &deadline) == -1 && errno == ETIMEDOUT);
}

static void* acquire_in_time(void* arg) {
  (void)arg;
  struct timespec deadline = after(CLOCK_MONOTONIC, kLong);
  struct timespec realtime_deadline = after(CLOCK_REALTIME, kLong);
  CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_timedlock(&mutex, &realtime_deadline) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_rwlock_timedrdlock(&rwlock, &realtime_deadline) == 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_rwlock_timedwrlock(&rwlock, &realtime_deadline) == 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &deadline) == 0);
  CHECK(sem_post(&semaphore) == 0);
  return NULL;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  sem_init(&semaphore, 0, 1);
  sem_init(&taken, 0, 0);
  sem_init(&let_go, 0, 0);
  for (int i = 0; i < rounds; i++) {
    pthread_t holder, waiter;
    CHECK(pthread_create(&holder, NULL, hold, NULL) == 0);
    sem_wait(&taken);
    expect_timeout(CLOCK_REALTIME);
    expect_timeout(CLOCK_MONOTONIC);

    struct timespec nonsense = {now(CLOCK_REALTIME) / 1000000000L, 1000000000L};
    CHECK(pthread_mutex_timedlock(&mutex, &nonsense) == EINVAL);
    struct timespec long_ago = {0, 0};
    CHECK(pthread_mutex_timedlock(&mutex, &long_ago) == ETIMEDOUT);

    CHECK(pthread_create(&waiter, NULL, acquire_in_time, NULL) == 0);
    sem_post(&let_go);
    CHECK(pthread_join(holder, NULL) == 0);
    CHECK(pthread_join(waiter, NULL) == 0);

    // A free lock is taken whatever the deadline.
    CHECK(pthread_mutex_timedlock(&mutex, &long_ago) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(sem_timedwait(&semaphore, &long_ago) == 0);
    CHECK(sem_post(&semaphore) == 0);
  }
  puts("ok");
  return 0;
}
