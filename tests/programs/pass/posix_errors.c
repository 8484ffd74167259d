// The errors that POSIX requires when a program misuses a primitive. (ThreadSanitizer reports the
// misuse, as it should: this program is not for it.)
// EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "../check.h"

static void init_mutex(pthread_mutex_t* mutex, int type) {
  pthread_mutexattr_t attr;
  CHECK(pthread_mutexattr_init(&attr) == 0);
  CHECK(pthread_mutexattr_settype(&attr, type) == 0);
  CHECK(pthread_mutex_init(mutex, &attr) == 0);
  CHECK(pthread_mutexattr_destroy(&attr) == 0);
}

static void* unlock_of_other(void* arg) {
  CHECK(pthread_mutex_unlock(arg) == EPERM);
  return NULL;
}

// Recursive and error-checking mutexes know their owner.
static void check_wrong_unlock(int type) {
  pthread_mutex_t mutex;
  init_mutex(&mutex, type);
  CHECK(pthread_mutex_unlock(&mutex) == EPERM);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, unlock_of_other, &mutex) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == EPERM);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void* join_self(void* arg) {
  (void)arg;
  CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
  return NULL;
}

static sem_t let_go;  // static: the detached thread may use it after check_join has returned

static void* stay(void* arg) {
  (void)arg;
  sem_wait(&let_go);
  return NULL;
}

static void check_join(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, join_self, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);

  CHECK(pthread_create(&thread, NULL, stay, NULL) == 0);
  CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
  CHECK(pthread_detach(thread) == 0);
  CHECK(pthread_detach(thread) == EINVAL);
  CHECK(pthread_join(thread, NULL) == EINVAL);
  CHECK(sem_post(&let_go) == 0);
}

static void check_locked_destroy(void) {
  pthread_mutex_t mutex;
  init_mutex(&mutex, PTHREAD_MUTEX_NORMAL);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_mutex_destroy(&mutex) == EBUSY);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_destroy(&mutex) == 0);

  pthread_mutexattr_t attr;
  CHECK(pthread_mutexattr_init(&attr) == 0);
  CHECK(pthread_mutexattr_settype(&attr, 99) == EINVAL);
  CHECK(pthread_mutexattr_destroy(&attr) == 0);
}

static void check_keys(void) {
  pthread_key_t key;
  CHECK(pthread_key_create(&key, NULL) == 0);
  CHECK(pthread_key_delete(key) == 0);
  CHECK(pthread_key_delete(key) == EINVAL);
  int value;
  CHECK(pthread_setspecific(key, &value) == EINVAL);
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  CHECK(sem_init(&let_go, 0, 0) == 0);
  for (int i = 0; i < rounds; i++) {
    check_wrong_unlock(PTHREAD_MUTEX_ERRORCHECK);
    check_wrong_unlock(PTHREAD_MUTEX_RECURSIVE);
    check_join();
    check_locked_destroy();
    check_keys();
  }
  puts("ok");
  return 0;
}
