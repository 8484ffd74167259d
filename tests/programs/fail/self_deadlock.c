// A function that holds a plain mutex calls another one that locks it again: it waits for itself,
// in every schedule. Started without clew, it hangs.
// ROOT CAUSE: self_deadlock.c:15; KIND: deadlock
// PREEMPTIONS: 0
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int limit = 3;

static int read_total(void) {
  pthread_mutex_lock(&mutex);
  int value = total;
  pthread_mutex_unlock(&mutex);
  return value;
}

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
