// fail/self_deadlock.c, fixed: the inner function expects its caller to hold the mutex.
// EXPECT: pass
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int limit = 3;

// REQUIRES: the caller holds the mutex.
static int read_total(void) { return total; }

static void* add(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  if (read_total() < limit) total++;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) limit = atoi(argv[1]);
  pthread_t thread;
  pthread_create(&thread, NULL, add, NULL);
  pthread_join(thread, NULL);
  printf("total %d\n", total);
  return total == 1 ? 0 : 1;
}
