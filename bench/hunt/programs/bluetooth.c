// A driver's stop against its requests (Qadeer and Wu). A request checks `stopping` and then counts
// itself in; a stop between the two finds nothing pending, and the driver is stopped while the
// request works. As in the published program the main thread makes the request, a stop that finds
// the driver busy gives up, and nobody joins it.
// ROOT CAUSE: bluetooth.c:43; KIND: data-race or atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pending = 1;  // one for the driver itself, under mutex
static volatile int is_idle;
static volatile int stopping;
static volatile int stopped;

static void count_in(void) {
  pthread_mutex_lock(&mutex);
  pending++;
  pthread_mutex_unlock(&mutex);
}

static int count_out_one(void) {
  pthread_mutex_lock(&mutex);
  int left = --pending;
  pthread_mutex_unlock(&mutex);
  return left;
}

static void count_out(void) {
  if (count_out_one() == 0) is_idle = 1;
}

static int begin_request(void) {
#ifdef FIXED
  count_in();
  if (!stopping) return 1;
  count_out();
  return 0;
#else
  if (stopping) return 0;
  count_in();
  return 1;
#endif
}

static void* stop(void* arg) {
  (void)arg;
  stopping = 1;
  count_out();
  if (is_idle) stopped = 1;
  return NULL;
}

int main(int argc, char** argv) {
  int requests = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t stopper;
  pthread_create(&stopper, NULL, stop, NULL);
  for (int i = 0; i < requests; i++) {
    if (!begin_request()) break;
    assert(!stopped);
    count_out();
  }
  return 0;
}
