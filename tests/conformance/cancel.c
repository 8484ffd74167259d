// pthread_cancel and its settings: state, type, cleanup handlers, what is not a cancellation point.
#define _GNU_SOURCE
#include <semaphore.h>
#include <signal.h>

#include "help.h"

static sem_t ready;
static sem_t never;
static int handled[4];
static int handlers;

static void note_handler(void* number) { handled[handlers++ % 4] = (int)(intptr_t)number; }

static void reset(void) {
  handlers = 0;
  EXPECT_EQ(sem_init(&ready, 0, 0), 0);
  EXPECT_EQ(sem_init(&never, 0, 0), 0);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {
  }
}

static void* block(void* unused) {
  sem_post(&ready);
  for (;;) wait_for(&never);
  return NULL;
}

CASE(pthread_cancel, result_is_canceled) {
  reset();
  pthread_t thread = start(block, NULL);
  wait_for(&ready);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
}

CASE(pthread_cancel, before_it_runs) {
  reset();
  pthread_t thread = start(block, NULL);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
}

CASE(pthread_cancel, twice) {
  reset();
  pthread_t thread = start(block, NULL);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
}

static void* end(void* argument) {
  sem_post(&ready);
  return argument;
}

// A thread that has ended, but was not joined, may be cancelled: nothing happens.
CASE(pthread_cancel, ended_thread) {
  reset();
  pthread_t thread = start(end, &ready);
  wait_for(&ready);
  nap(kShortMs);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == &ready);
}

static void* cancel_self(void* unused) {
  EXPECT_EQ(pthread_cancel(pthread_self()), 0);
  handled[0] = 7;  // deferred: still here
  pthread_testcancel();
  handled[0] = 8;
  return NULL;
}

CASE(pthread_testcancel, acts_on_pending) {
  reset();
  handled[0] = 0;
  EXPECT(finish(start(cancel_self, NULL)) == PTHREAD_CANCELED);
  EXPECT_EQ(handled[0], 7);
}

CASE(pthread_testcancel, without_request) { pthread_testcancel(); }

CASE(pthread_setcancelstate, results) {
  int old = -1;
  EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
  EXPECT_EQ(old, PTHREAD_CANCEL_ENABLE);
  EXPECT_EQ(pthread_setcancelstate(17, &old), EINVAL);
  EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old), 0);
  EXPECT_EQ(old, PTHREAD_CANCEL_DISABLE);
  EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
}

CASE(pthread_setcanceltype, results) {
  int old = -1;
  EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
  EXPECT_EQ(old, PTHREAD_CANCEL_DEFERRED);
  EXPECT_EQ(pthread_setcanceltype(17, &old), EINVAL);
  EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old), 0);
  EXPECT_EQ(old, PTHREAD_CANCEL_ASYNCHRONOUS);
}

static void* disabled_then_enabled(void* reached) {
  EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
  sem_post(&ready);
  wait_for(&never);  // posted after the request
  pthread_testcancel();
  nap(1);
  *(int*)reached = 1;
  EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
  pthread_testcancel();
  *(int*)reached = 2;
  return NULL;
}

CASE(pthread_setcancelstate, disabled_keeps_the_request) {
  reset();
  int reached = 0;
  pthread_t thread = start(disabled_then_enabled, &reached);
  wait_for(&ready);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT_EQ(sem_post(&never), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
  EXPECT_EQ(reached, 1);
}

static void* spin_forever(void* unused) {
  EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
  sem_post(&ready);
  static volatile int turns;
  for (;;) turns = turns + 1;
  return NULL;
}

CASE(pthread_setcanceltype, asynchronous) {
  reset();
  pthread_t thread = start(spin_forever, NULL);
  wait_for(&ready);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
}

static void* pending_then_asynchronous(void* reached) {
  EXPECT_EQ(pthread_cancel(pthread_self()), 0);
  *(int*)reached = 1;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  *(int*)reached = 2;
  return NULL;
}

CASE(pthread_setcanceltype, asynchronous_acts_on_pending) {
  int reached = 0;
  EXPECT(finish(start(pending_then_asynchronous, &reached)) == PTHREAD_CANCELED);
  EXPECT_EQ(reached, 1);
}

static void* block_with_handlers(void* unused) {
  pthread_cleanup_push(note_handler, (void*)1);
  pthread_cleanup_push(note_handler, (void*)2);
  pthread_cleanup_push(note_handler, (void*)3);
  pthread_cleanup_pop(0);
  sem_post(&ready);
  for (;;) wait_for(&never);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}

CASE(pthread_cleanup_push, handlers_run_in_reverse) {
  reset();
  pthread_t thread = start(block_with_handlers, NULL);
  wait_for(&ready);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
  EXPECT_EQ(handlers, 2);
  EXPECT_EQ(handled[0], 2);
  EXPECT_EQ(handled[1], 1);
}

static void* exit_with_handlers(void* unused) {
  pthread_cleanup_push(note_handler, (void*)1);
  pthread_cleanup_push(note_handler, (void*)2);
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}

CASE(pthread_cleanup_push, handlers_run_at_pthread_exit) {
  reset();
  finish(start(exit_with_handlers, NULL));
  EXPECT_EQ(handlers, 2);
  EXPECT_EQ(handled[0], 2);
  EXPECT_EQ(handled[1], 1);
}

CASE(pthread_cleanup_pop, executes_or_not) {
  reset();
  pthread_cleanup_push(note_handler, (void*)1);
  pthread_cleanup_push(note_handler, (void*)2);
  pthread_cleanup_pop(1);
  EXPECT_EQ(handlers, 1);
  EXPECT_EQ(handled[0], 2);
  pthread_cleanup_pop(0);
  EXPECT_EQ(handlers, 1);
}

static void* defer(void* reached) {
  int old = -1;
  EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
  pthread_cleanup_push_defer_np(note_handler, (void*)1);
  EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old), 0);
  EXPECT_EQ(old, PTHREAD_CANCEL_DEFERRED);
  pthread_cleanup_pop_restore_np(1);
  EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old), 0);
  EXPECT_EQ(old, PTHREAD_CANCEL_ASYNCHRONOUS);
  return reached;
}

CASE(pthread_cleanup_push_defer_np, defers_and_restores) {
  reset();
  EXPECT(finish(start(defer, &ready)) == &ready);
  EXPECT_EQ(handlers, 1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static pthread_key_t key;

static void note_key(void* value) { note_handler(value); }

static void* block_with_key(void* unused) {
  pthread_cleanup_push(note_handler, (void*)1);
  EXPECT_EQ(pthread_setspecific(key, (void*)2), 0);
  sem_post(&ready);
  for (;;) wait_for(&never);
  pthread_cleanup_pop(0);
  return NULL;
}

CASE(pthread_cancel, handlers_before_key_destructors) {
  reset();
  EXPECT_EQ(pthread_key_create(&key, note_key), 0);
  pthread_t thread = start(block_with_key, NULL);
  wait_for(&ready);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
  EXPECT_EQ(handlers, 2);
  EXPECT_EQ(handled[0], 1);
  EXPECT_EQ(handled[1], 2);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

// With a request pending: none of these is a cancellation point.
static void* no_points(void* reached) {
  EXPECT_EQ(pthread_cancel(pthread_self()), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_rwlock_wrlock(&rwlock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&rwlock), 0);
  EXPECT_EQ(pthread_spin_lock(&spin), 0);
  EXPECT_EQ(pthread_spin_unlock(&spin), 0);
  EXPECT_EQ(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
  EXPECT_EQ(sem_post(&ready), 0);
  EXPECT_EQ(sem_trywait(&ready), 0);
  EXPECT_EQ(pthread_kill(pthread_self(), 0), 0);
  *(int*)reached = 1;
  return NULL;
}

CASE(pthread_cancel, not_a_cancellation_point) {
  reset();
  int reached = 0;
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 1), 0);
  EXPECT_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
  finish(start(no_points, &reached));
  EXPECT_EQ(reached, 1);
}

static void* lock_while_held(void* reached) {
  sem_post(&ready);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);  // not a cancellation point: waits for the lock
  *(int*)reached = 1;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  pthread_testcancel();
  *(int*)reached = 2;
  return NULL;
}

CASE(pthread_cancel, waiting_for_a_mutex) {
  reset();
  int reached = 0;
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  pthread_t thread = start(lock_while_held, &reached);
  wait_for(&ready);
  nap(kShortMs);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
  EXPECT_EQ(reached, 1);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int attempts;

static void cancelled_at_first(void) {
  if (++attempts == 1) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
  }
}

static void* run_once(void* unused) {
  pthread_once(&once, cancelled_at_first);
  return NULL;
}

CASE(pthread_once, again_after_cancel) {
  EXPECT(finish(start(run_once, NULL)) == PTHREAD_CANCELED);
  EXPECT(finish(start(run_once, NULL)) == NULL);
  EXPECT_EQ(attempts, 2);
}
