// Nobody waits for the worker: under most schedules the program ends before it has run, under some it
// reads what is only half written.
// ROOT CAUSE: not_joined.c:13 (between the writes at not_joined.c:23 and not_joined.c:24); KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail (exit)
#include <pthread.h>
#include <stdlib.h>

static int width = 1;
static int height = 1;

static void* check_square(void* unused) {
  if (width != height) exit(1);
  return unused;
}

int main(void) {
  pthread_t worker;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_create(&worker, &detached, check_square, NULL);
  width = 2;
  height = 2;
  return 0;
}
