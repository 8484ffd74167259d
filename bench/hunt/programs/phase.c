// Two threads work in two phases. In each phase both take the two locks in one order, in the second
// the opposite one; but nothing keeps the threads in the same phase.
// ROOT CAUSE: phase.c:16; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex_x = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_y = PTHREAD_MUTEX_INITIALIZER;
static int work;
#ifdef FIXED
static pthread_barrier_t barrier;
static void end_phase(void) { pthread_barrier_wait(&barrier); }
#else
static void end_phase(void) {}
#endif

static void work_under(pthread_mutex_t* outer, pthread_mutex_t* inner) {
  pthread_mutex_lock(outer);
  pthread_mutex_lock(inner);
  work++;
  pthread_mutex_unlock(inner);
  pthread_mutex_unlock(outer);
}

static void* run(void* arg) {
  (void)arg;
  work_under(&mutex_x, &mutex_y);
  end_phase();
  work_under(&mutex_y, &mutex_x);
  return NULL;
}

int main(void) {
  pthread_t first, second;
#ifdef FIXED
  pthread_barrier_init(&barrier, NULL, 2);
#endif
  pthread_create(&first, NULL, run, NULL);
  pthread_create(&second, NULL, run, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  return work == 4 ? 0 : 1;
}
