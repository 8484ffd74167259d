// MacDonald, Chen, Novillo 2006, figure 4: the third thread divides by what the first or the second
// wrote last; a barrier lets it wait for the second, and a sleep hides that it does not wait for the
// first. SLEEP_IN_FIRST: the sleep is in the first thread. SECOND_FIRST: no sleep, and the second
// thread is created first. REPAIRED: the first thread writes another number.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifndef NAP
#define NAP 20000  // microseconds
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int n = 1;

static void* first(void* unused) {
#ifdef SLEEP_IN_FIRST
  usleep(NAP);
#endif
  pthread_mutex_lock(&lock);
#ifdef REPAIRED
  n = 7;
#else
  n = 0;
#endif
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* second(void* unused) {
#if !defined(SLEEP_IN_FIRST) && !defined(SECOND_FIRST)
  usleep(NAP);
#endif
  pthread_mutex_lock(&lock);
  n = 3;
  pthread_mutex_unlock(&lock);
  pthread_barrier_wait(&barrier);
  return unused;
}

static void* third(void* unused) {
  pthread_barrier_wait(&barrier);
  pthread_mutex_lock(&lock);
  printf("%d\n", 21 / n);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
#ifdef SECOND_FIRST
  void* (*const bodies[])(void*) = {second, first, third};
#else
  void* (*const bodies[])(void*) = {first, second, third};
#endif
  pthread_t threads[3];
  pthread_barrier_init(&barrier, 0, 2);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, bodies[i], 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return 0;
}
