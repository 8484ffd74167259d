// A waiter checks the flag before it takes the lock and does not check again: a signal in between
// wakes nobody, and it waits for ever.
// ROOT CAUSE: sync01.c:20; KIND: lost-wakeup
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int ready;

static void* wait_for_it(void* arg) {
  (void)arg;
#ifdef FIXED
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
#else
  if (!ready) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
  }
#endif
  return NULL;
}

static void* announce(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t waiter, announcer;
  pthread_create(&waiter, NULL, wait_for_it, NULL);
  pthread_create(&announcer, NULL, announce, NULL);
  pthread_join(waiter, NULL);
  pthread_join(announcer, NULL);
  return 0;
}
