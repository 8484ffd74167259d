// Nobody waits for the worker, which reads what is written under a lock: it never sees half of it.
// EXPECT: pass
#include <pthread.h>
#include <stdlib.h>

static int width = 1;
static int height = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* check_square(void* unused) {
  pthread_mutex_lock(&mutex);
  if (width != height) exit(1);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t worker;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_create(&worker, &detached, check_square, NULL);
  pthread_mutex_lock(&mutex);
  width = 2;
  height = 2;
  pthread_mutex_unlock(&mutex);
  return 0;
}
