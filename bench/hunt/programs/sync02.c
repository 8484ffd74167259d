// A buffer of one item with N producers and N consumers that all wait on one condition variable and
// wake one waiter each: a consumer that wakes a consumer leaves a producer asleep.
// ROOT CAUSE: sync02.c:17; KIND: lost-wakeup
// PREEMPTIONS: 0
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;

static void wake(void) {
#ifdef FIXED
  pthread_cond_broadcast(&changed);
#else
  pthread_cond_signal(&changed);
#endif
}

static void* produce(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  while (full) pthread_cond_wait(&changed, &mutex);
  full = 1;
  wake();
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* consume(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  while (!full) pthread_cond_wait(&changed, &mutex);
  full = 0;
  wake();
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  int pairs = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* thread = calloc(2 * pairs, sizeof *thread);
  for (int i = 0; i < 2 * pairs; i++) {
    pthread_create(&thread[i], NULL, i < pairs ? produce : consume, NULL);
  }
  for (int i = 0; i < 2 * pairs; i++) pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
