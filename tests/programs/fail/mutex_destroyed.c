// A logger is shut down, its mutex with it, while a worker still has a line to write. Nothing but
// the mutex itself is written by both.
// ROOT CAUSE: mutex_destroyed.c:27; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail misuse
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void* work(void* times) {
  for (int i = 0; i < *(int*)times; i++) {
    if (pthread_mutex_lock(&mutex) != 0) exit(1);
    lines++;
    if (pthread_mutex_unlock(&mutex) != 0) exit(1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int times = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t worker;
  pthread_create(&worker, NULL, work, &times);
  // A correct program would wait for the worker first.
  if (pthread_mutex_destroy(&mutex) != 0) puts("in use");
  pthread_join(worker, NULL);
  printf("%d lines\n", lines);
  return 0;
}
