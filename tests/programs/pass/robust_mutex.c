// Robust mutexes: the state that a thread leaves behind when it ends with the lock. (Unlocking what
// is not locked is an error here, for ThreadSanitizer a report.)
// EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "../check.h"

static void init(pthread_mutex_t* mutex, int type, int protocol) {
  pthread_mutexattr_t attributes;
  CHECK(pthread_mutexattr_init(&attributes) == 0);
  CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
  CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
  CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
  CHECK(pthread_mutex_init(mutex, &attributes) == 0);
  CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

static void* lock_and_leave(void* mutex) { return (void*)(intptr_t)pthread_mutex_lock(mutex); }

static void leave_locked(pthread_mutex_t* mutex, int expected) {
  pthread_t thread;
  void* result;
  CHECK(pthread_create(&thread, NULL, lock_and_leave, mutex) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK((intptr_t)result == expected);
}

static void check_kind(int type, int protocol) {
  pthread_mutex_t mutex;
  init(&mutex, type, protocol);
  leave_locked(&mutex, 0);
  leave_locked(&mutex, EOWNERDEAD);
  CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
  if (type == PTHREAD_MUTEX_RECURSIVE) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == ENOTRECOVERABLE);  // still inconsistent, still locked
  }
  CHECK(pthread_mutex_consistent(&mutex) == 0);
  CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == EPERM);

  leave_locked(&mutex, 0);
  CHECK(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
  leave_locked(&mutex, ENOTRECOVERABLE);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

// Threads wait while the owner ends: one is told and repairs it, the others lock it as usual. (Only
// one may wait if nobody repairs it: glibc 2.36 forgets to wake the others then.)
static pthread_mutex_t shared;
static sem_t held;
static sem_t go;
static int told;
static int repairs;

static void* hold_and_end(void* unused) {
  (void)unused;
  CHECK(pthread_mutex_lock(&shared) == 0);
  CHECK(sem_post(&held) == 0);
  CHECK(sem_wait(&go) == 0);
  return NULL;
}

static void* take(void* unused) {
  (void)unused;
  int result = pthread_mutex_lock(&shared);
  if (result == EOWNERDEAD) {
    told++;
    if (repairs) CHECK(pthread_mutex_consistent(&shared) == 0);
  } else {
    CHECK(result == 0);
  }
  CHECK(pthread_mutex_unlock(&shared) == 0);
  return NULL;
}

static void check_waiters(void) {
  const int waiting = repairs ? 3 : 1;
  init(&shared, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE);
  told = 0;
  pthread_t owner;
  pthread_t waiters[3];
  CHECK(pthread_create(&owner, NULL, hold_and_end, NULL) == 0);
  CHECK(sem_wait(&held) == 0);
  for (int i = 0; i < waiting; i++) CHECK(pthread_create(&waiters[i], NULL, take, NULL) == 0);
  CHECK(sem_post(&go) == 0);
  CHECK(pthread_join(owner, NULL) == 0);
  for (int i = 0; i < waiting; i++) CHECK(pthread_join(waiters[i], NULL) == 0);
  CHECK(told == 1);
  if (!repairs) CHECK(pthread_mutex_lock(&shared) == ENOTRECOVERABLE);
  CHECK(pthread_mutex_destroy(&shared) == 0);
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                              PTHREAD_MUTEX_ERRORCHECK};
  CHECK(sem_init(&held, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < 3; i++) {
      check_kind(types[i], PTHREAD_PRIO_NONE);
      check_kind(types[i], PTHREAD_PRIO_INHERIT);
    }
    repairs = round % 2 == 0;
    check_waiters();
    repairs = !repairs;
    check_waiters();
  }
  puts("ok");
  return 0;
}
