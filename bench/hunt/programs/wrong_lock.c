// wrong lock N: one thread adds to a counter under the counter's lock and checks its own addition;
// N others add to it under another lock, which excludes nobody.
// ROOT CAUSE: wrong_lock.c:30; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t counter_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int counter;

static void* add_and_check(void* arg) {
  (void)arg;
  pthread_mutex_lock(&counter_mutex);
  int before = counter;
  counter = counter + 1;
  assert(counter == before + 1);
  pthread_mutex_unlock(&counter_mutex);
  return NULL;
}

static void* add(void* arg) {
  (void)arg;
#ifdef FIXED
  pthread_mutex_t* mutex = &counter_mutex;
  (void)other_mutex;
#else
  pthread_mutex_t* mutex = &other_mutex;
#endif
  pthread_mutex_lock(mutex);
  counter = counter + 1;
  pthread_mutex_unlock(mutex);
  return NULL;
}

int main(int argc, char** argv) {
  int others = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t* thread = calloc(others + 1, sizeof *thread);
  for (int i = 0; i <= others; i++) {
    pthread_create(&thread[i], NULL, i == 0 ? add_and_check : add, NULL);
  }
  for (int i = 0; i <= others; i++) pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
