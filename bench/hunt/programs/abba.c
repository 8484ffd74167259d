// Two threads take two locks in opposite orders. When each has its first, both wait for ever.
// ROOT CAUSE: abba.c:28; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_b = PTHREAD_MUTEX_INITIALIZER;
static int counter = 1;

static void* increment(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex_a);
  pthread_mutex_lock(&mutex_b);
  counter++;
  pthread_mutex_unlock(&mutex_b);
  pthread_mutex_unlock(&mutex_a);
  return NULL;
}

static void* decrement(void* arg) {
  (void)arg;
#ifdef FIXED
  pthread_mutex_lock(&mutex_a);
  pthread_mutex_lock(&mutex_b);
#else
  pthread_mutex_lock(&mutex_b);
  pthread_mutex_lock(&mutex_a);
#endif
  counter--;
  pthread_mutex_unlock(&mutex_a);
  pthread_mutex_unlock(&mutex_b);
  return NULL;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, increment, NULL);
  pthread_create(&second, NULL, decrement, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  return counter == 1 ? 0 : 1;
}
