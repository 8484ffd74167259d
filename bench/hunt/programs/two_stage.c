// two-stage N: N - 1 threads write `data1` under one lock and then, under another, `data2` that
// belongs to it. One reader comes between the two and sees the first without the second.
// ROOT CAUSE: two_stage.c:19; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex2 = PTHREAD_MUTEX_INITIALIZER;
static int data1, data2;

static void* write_both(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex1);
  data1 = 1;
#ifndef FIXED
  pthread_mutex_unlock(&mutex1);
#endif
  pthread_mutex_lock(&mutex2);
  data2 = data1 + 1;
  pthread_mutex_unlock(&mutex2);
#ifdef FIXED
  pthread_mutex_unlock(&mutex1);
#endif
  return NULL;
}

static void* read_both(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex1);
  int first = data1;
  pthread_mutex_unlock(&mutex1);
  if (first == 0) return NULL;
  pthread_mutex_lock(&mutex2);
  int second = data2;
  pthread_mutex_unlock(&mutex2);
  assert(second == first + 1);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* thread = calloc(threads, sizeof *thread);
  for (int i = 0; i < threads; i++) {
    pthread_create(&thread[i], NULL, i < threads - 1 ? write_both : read_both, NULL);
  }
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
