// Two threads add to a sum that must stay below 3, each under the lock, neither checking the
// current value; a third asserts the limit and fails if it runs last.
// ROOT CAUSE: lazy.c:21; KIND: unknown
// PREEMPTIONS: 0
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { kLimit = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void* add(void* arg) {
  int amount = (int)(intptr_t)arg;
  pthread_mutex_lock(&mutex);
#ifdef FIXED
  if (data + amount < kLimit) data += amount;
#else
  data += amount;
#endif
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* check(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  assert(data < kLimit);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread[3];
  pthread_create(&thread[0], NULL, add, (void*)(intptr_t)1);
  pthread_create(&thread[1], NULL, add, (void*)(intptr_t)2);
  pthread_create(&thread[2], NULL, check, NULL);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  return 0;
}
