// Cancellation: deferred and asynchronous, enabled and disabled, at every cancellation point of the
// thread functions, with cleanup handlers. (ThreadSanitizer does not know a join that is
// cancelled.) EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#include "../check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t arrived;
static sem_t never;
static int cleaned;

static void clean_up(void* digit) { cleaned = cleaned * 10 + (int)(intptr_t)digit; }

static void unlock(void* locked) {
  CHECK(pthread_mutex_trylock(locked) == EBUSY);
  CHECK(pthread_mutex_unlock(locked) == 0);
  clean_up((void*)4);
}

static pthread_t start(void* (*body)(void*), void* argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, argument) == 0);
  return thread;
}

static void* finish(pthread_t thread) {
  void* result = NULL;
  CHECK(pthread_join(thread, &result) == 0);
  return result;
}

static void expect_cancelled(pthread_t thread) {
  CHECK(pthread_cancel(thread) == 0);
  CHECK(finish(thread) == PTHREAD_CANCELED);
}

// --- cancellation points ---------------------------------------------------------------------

static void* wait_for_condition(void* unused) {
  (void)unused;
  CHECK(pthread_mutex_lock(&mutex) == 0);
  pthread_cleanup_push(unlock, &mutex);
  CHECK(sem_post(&arrived) == 0);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* wait_for_condition_in_time(void* unused) {
  (void)unused;
  struct timespec far = {INT32_MAX, 0};
  CHECK(pthread_mutex_lock(&mutex) == 0);
  pthread_cleanup_push(unlock, &mutex);
  CHECK(sem_post(&arrived) == 0);
  for (;;) pthread_cond_timedwait(&condition, &mutex, &far);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* wait_for_semaphore(void* unused) {
  (void)unused;
  pthread_cleanup_push(clean_up, (void*)4);
  CHECK(sem_post(&arrived) == 0);
  sem_wait(&never);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* test_for_ever(void* unused) {
  (void)unused;
  pthread_cleanup_push(clean_up, (void*)4);
  CHECK(sem_post(&arrived) == 0);
  for (;;) {
    pthread_testcancel();
    sched_yield();
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void check_points(void) {
  void* (*bodies[])(void*) = {wait_for_condition, wait_for_condition_in_time, wait_for_semaphore,
                              test_for_ever};
  for (int i = 0; i < 4; i++) {
    cleaned = 0;
    pthread_t thread = start(bodies[i], NULL);
    CHECK(sem_wait(&arrived) == 0);
    expect_cancelled(thread);
    CHECK(cleaned == 4);
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
}

// A thread that is cancelled while it joins leaves the other joinable.
static void* join_other(void* other) {
  void* result;
  CHECK(sem_post(&arrived) == 0);
  pthread_join(*(pthread_t*)other, &result);
  return NULL;
}

static void check_join(void) {
  pthread_t waiting = start(wait_for_semaphore, NULL);
  pthread_t joining = start(join_other, &waiting);
  CHECK(sem_wait(&arrived) == 0 && sem_wait(&arrived) == 0);
  expect_cancelled(joining);
  CHECK(sem_post(&never) == 0);
  CHECK(finish(waiting) == NULL);
}

// --- handlers --------------------------------------------------------------------------------

static pthread_key_t key;
static void destroy_value(void* digit) {
  // Too late: a thread is cancelled once.
  pthread_testcancel();
  clean_up(digit);
}

static void nested(void) {
  pthread_cleanup_push(clean_up, (void*)2);
  pthread_cleanup_push(clean_up, (void*)9);
  pthread_cleanup_pop(0);
  pthread_cleanup_push(clean_up, (void*)1);
  CHECK(sem_post(&arrived) == 0);
  sem_wait(&never);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
}

static void* clean_in_order(void* unused) {
  (void)unused;
  CHECK(pthread_setspecific(key, (void*)4) == 0);
  pthread_cleanup_push(clean_up, (void*)3);
  pthread_cleanup_push(clean_up, (void*)8);
  pthread_cleanup_pop(1);
  cleaned = 0;
  nested();
  pthread_cleanup_pop(0);
  return NULL;
}

static void check_handlers(void) {
  CHECK(pthread_key_create(&key, destroy_value) == 0);
  pthread_t thread = start(clean_in_order, NULL);
  CHECK(sem_wait(&arrived) == 0);
  expect_cancelled(thread);
  CHECK(cleaned == 1234);
  CHECK(pthread_key_delete(key) == 0);
}

// --- state and type --------------------------------------------------------------------------

static int passed;

static void* disable_for_a_while(void* unused) {
  (void)unused;
  int before = -1;
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
  CHECK(before == PTHREAD_CANCEL_ENABLE);
  CHECK(sem_post(&arrived) == 0);
  CHECK(sem_wait(&never) == 0);  // until the cancellation is pending
  pthread_testcancel();
  passed = 1;
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) == 0);
  CHECK(before == PTHREAD_CANCEL_DISABLE);
  passed = 2;  // deferred: enabling is not a cancellation point
  pthread_testcancel();
  passed = 3;
  return NULL;
}

static void* become_asynchronous(void* unused) {
  (void)unused;
  int before = -1;
  CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0);
  CHECK(before == PTHREAD_CANCEL_DEFERRED);
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
  CHECK(sem_post(&arrived) == 0);
  CHECK(sem_wait(&never) == 0);
  passed = 1;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  passed = 2;
  return NULL;
}

static volatile int spinning = 1;

static void* spin(void* unused) {
  (void)unused;
  CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
  CHECK(sem_post(&arrived) == 0);
  while (spinning) {
  }
  return NULL;
}

static void* cancel_self(void* asynchronous) {
  if (asynchronous) CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
  CHECK(pthread_cancel(pthread_self()) == 0);
  passed = 1;
  pthread_testcancel();
  passed = 2;
  return NULL;
}

static void* return_before_cancellation(void* unused) {
  (void)unused;
  CHECK(sem_post(&arrived) == 0);
  return (void*)7;
}

static void check_states(void) {
  pthread_t thread = start(disable_for_a_while, NULL);
  CHECK(sem_wait(&arrived) == 0);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(sem_post(&never) == 0);
  CHECK(finish(thread) == PTHREAD_CANCELED);
  CHECK(passed == 2);

  thread = start(become_asynchronous, NULL);
  CHECK(sem_wait(&arrived) == 0);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(sem_post(&never) == 0);
  CHECK(finish(thread) == PTHREAD_CANCELED);
  CHECK(passed == 1);

  thread = start(spin, NULL);
  CHECK(sem_wait(&arrived) == 0);
  expect_cancelled(thread);

  passed = 0;
  CHECK(finish(start(cancel_self, NULL)) == PTHREAD_CANCELED);
  CHECK(passed == 1);
  passed = 0;
  CHECK(finish(start(cancel_self, (void*)1)) == PTHREAD_CANCELED);
  CHECK(passed == 0);

  thread = start(return_before_cancellation, NULL);
  CHECK(sem_wait(&arrived) == 0);
  CHECK(pthread_cancel(thread) == 0);
  void* result = finish(thread);
  CHECK(result == (void*)7 || result == PTHREAD_CANCELED);

  CHECK(pthread_setcancelstate(17, NULL) == EINVAL);
  CHECK(pthread_setcanceltype(17, NULL) == EINVAL);
}

// --- what is left behind ---------------------------------------------------------------------

static int tokens;
static int waiting;

static void* take_token(void* unused) {
  (void)unused;
  CHECK(pthread_mutex_lock(&mutex) == 0);
  pthread_cleanup_push(unlock, &mutex);
  ++waiting;
  while (tokens == 0) pthread_cond_wait(&condition, &mutex);
  --tokens;
  pthread_cleanup_pop(0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  return NULL;
}

// A signal is not lost when it wakes a thread that is cancelled.
static void check_signal_is_kept(void) {
  waiting = tokens = 0;
  pthread_t first = start(take_token, NULL);
  pthread_t second = start(take_token, NULL);
  for (int both = 0; !both; sched_yield()) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    both = waiting == 2;
    if (both) {
      CHECK(pthread_cancel(first) == 0);
      tokens = 1;
      CHECK(pthread_cond_signal(&condition) == 0);
    }
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
  if (finish(first) == NULL) {  // it was woken before it was cancelled, and took the token
    CHECK(pthread_cancel(second) == 0);
    CHECK(finish(second) == PTHREAD_CANCELED);
  } else {
    CHECK(finish(second) == NULL);
  }
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  CHECK(sem_init(&arrived, 0, 0) == 0 && sem_init(&never, 0, 0) == 0);
  for (int i = 0; i < rounds; i++) {
    check_points();
    check_join();
    check_handlers();
    check_states();
    check_signal_is_kept();
  }
  puts("ok");
  return 0;
}
