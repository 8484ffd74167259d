// Mutexes of all kinds: lock, trylock, unlock, locking twice. (Wrong unlocks: posix_errors.c.)
// EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "../check.h"

enum { kThreads = 4 };

static int times = 20;

struct shared {
  pthread_mutex_t mutex;
  int depth;  // how often each round locks: more than once for recursive mutexes
  int count;
};

static void init_mutex(pthread_mutex_t* mutex, int type) {
  pthread_mutexattr_t attr;
  int read_back = -1;
  CHECK(pthread_mutexattr_init(&attr) == 0);
  CHECK(pthread_mutexattr_settype(&attr, type) == 0);
  CHECK(pthread_mutexattr_gettype(&attr, &read_back) == 0);
  CHECK(read_back == type);
  CHECK(pthread_mutex_init(mutex, &attr) == 0);
  CHECK(pthread_mutexattr_destroy(&attr) == 0);
}

static void* count_up(void* arg) {
  struct shared* shared = arg;
  for (int i = 0; i < times; i++) {
    for (int d = 0; d < shared->depth; d++) CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    int seen = shared->count;
    shared->count = seen + 1;
    for (int d = 0; d < shared->depth; d++) CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
  }
  return NULL;
}

static void* try_up(void* arg) {
  struct shared* shared = arg;
  for (int i = 0; i < times; i++) {
    int error;
    while ((error = pthread_mutex_trylock(&shared->mutex)) != 0) {
      CHECK(error == EBUSY);
      pthread_mutex_lock(&shared->mutex);  // waits until it is free, then tries again
      pthread_mutex_unlock(&shared->mutex);
    }
    shared->count++;
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
  }
  return NULL;
}

static void exclude(int type, int depth) {
  struct shared shared = {.depth = depth};
  init_mutex(&shared.mutex, type);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    CHECK(pthread_create(&threads[i], NULL, i % 2 ? try_up : count_up, &shared) == 0);
  }
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(shared.count == kThreads * times);
  CHECK(pthread_mutex_destroy(&shared.mutex) == 0);
}

static void* expect_busy(void* arg) {
  CHECK(pthread_mutex_trylock(arg) == EBUSY);
  return NULL;
}

static void check_errors(int type) {
  pthread_mutex_t mutex;
  init_mutex(&mutex, type);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  if (type == PTHREAD_MUTEX_ERRORCHECK) {
    CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
  } else {
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, expect_busy, &mutex) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) times = atoi(argv[1]);
  exclude(PTHREAD_MUTEX_NORMAL, 1);
  exclude(PTHREAD_MUTEX_DEFAULT, 1);
  exclude(PTHREAD_MUTEX_ADAPTIVE_NP, 1);
  exclude(PTHREAD_MUTEX_ERRORCHECK, 1);
  exclude(PTHREAD_MUTEX_RECURSIVE, 3);
  check_errors(PTHREAD_MUTEX_ERRORCHECK);
  check_errors(PTHREAD_MUTEX_RECURSIVE);

  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
  CHECK(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&checked) == EDEADLK);
  CHECK(pthread_mutex_unlock(&checked) == 0);
  puts("ok");
  return 0;
}
