// reorder N: N - 1 threads set `a`, then `b`; one checks that it sees both or neither. The check
// fails only between the two stores of the first setter: it must run before any setter has ended,
// which gets rarer with every additional setter.
// ROOT CAUSE: reorder.c:25; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static volatile int a, b;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#ifdef FIXED
static void enter(void) { pthread_mutex_lock(&mutex); }
static void leave(void) { pthread_mutex_unlock(&mutex); }
#else
static void enter(void) { (void)mutex; }
static void leave(void) {}
#endif

static void* set(void* arg) {
  (void)arg;
  enter();
  a = 1;
  b = -1;
  leave();
  return NULL;
}

static void* check(void* arg) {
  (void)arg;
  enter();
  assert((a == 0 && b == 0) || (a == 1 && b == -1));
  leave();
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 3;
  pthread_t* thread = calloc(threads, sizeof *thread);
  for (int i = 0; i < threads; i++) {
    pthread_create(&thread[i], NULL, i < threads - 1 ? set : check, NULL);
  }
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
