// A producer passes on the numbers 1 to N one at a time, a consumer sums them up and says when it
// has taken the last: before it has added it. A checker that waits for it may see too small a sum.
// ROOT CAUSE: arithmetic_progression.c:44; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int slot;  // 0: empty
static int total, done;
static int terms = 3;

static void* produce(void* arg) {
  (void)arg;
  for (int i = 1; i <= terms; i++) {
    pthread_mutex_lock(&mutex);
    while (slot != 0) pthread_cond_wait(&empty, &mutex);
    slot = i;
    pthread_cond_signal(&full);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

// With the mutex held.
static void finish(void) {
  done = 1;
  pthread_cond_signal(&finished);
}

static void* consume(void* arg) {
  (void)arg;
  for (int i = 1; i <= terms; i++) {
    pthread_mutex_lock(&mutex);
    while (slot == 0) pthread_cond_wait(&full, &mutex);
    int term = slot;
    slot = 0;
#ifndef FIXED
    if (i == terms) finish();
#endif
    pthread_cond_signal(&empty);
    pthread_mutex_unlock(&mutex);

    pthread_mutex_lock(&mutex);
    total += term;
#ifdef FIXED
    if (i == terms) finish();
#endif
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* check(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  while (!done) pthread_cond_wait(&finished, &mutex);
  assert(total == terms * (terms + 1) / 2);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) terms = atoi(argv[1]);
  pthread_t thread[3];
  pthread_create(&thread[0], NULL, produce, NULL);
  pthread_create(&thread[1], NULL, consume, NULL);
  pthread_create(&thread[2], NULL, check, NULL);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  return 0;
}
