// A driver's stop against its requests (Qadeer and Wu). A request checks `stopping` and then counts
// itself in; a stop between the two finds nothing pending, and the driver is stopped while the
// request works.
// ROOT CAUSE: bluetooth.c:40
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int pending = 1;  // one for the driver itself, under mutex
static int is_idle;      // under mutex
static volatile int stopping;
static volatile int stopped;

static void count_in(void) {
  pthread_mutex_lock(&mutex);
  pending++;
  pthread_mutex_unlock(&mutex);
}

static void count_out(void) {
  pthread_mutex_lock(&mutex);
  if (--pending == 0) {
    is_idle = 1;
    pthread_cond_signal(&idle);
  }
  pthread_mutex_unlock(&mutex);
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

static void* request(void* arg) {
  (void)arg;
  if (!begin_request()) return NULL;
  assert(!stopped);
  count_out();
  return NULL;
}

static void* stop(void* arg) {
  (void)arg;
  stopping = 1;
  count_out();
  pthread_mutex_lock(&mutex);
  while (!is_idle) pthread_cond_wait(&idle, &mutex);
  pthread_mutex_unlock(&mutex);
  stopped = 1;
  return NULL;
}

int main(int argc, char** argv) {
  int requests = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t* thread = calloc(requests + 1, sizeof *thread);
  for (int i = 0; i <= requests; i++) {
    pthread_create(&thread[i], NULL, i < requests ? request : stop, NULL);
  }
  for (int i = 0; i <= requests; i++) pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
