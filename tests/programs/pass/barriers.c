// pthread barriers: no thread passes before all have arrived, one thread in each round is told that
// it is the serial one, and a barrier can be reused at once. (std::barrier: cpp20_sync.cpp.)
// EXPECT: pass
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../check.h"

enum { kThreads = 5 };

static pthread_barrier_t barrier;
static int rounds = 10;
static atomic_int arrived;
static atomic_int serial;
static int column[kThreads];  // written by its thread, read by its neighbour after the barrier

static void* work(void* arg) {
  int id = (int)(long)arg;
  for (int round = 0; round < rounds; round++) {
    column[id] = round * 100 + id;
    atomic_fetch_add(&arrived, 1);
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&serial, 1);
    CHECK(atomic_load(&arrived) >= (round + 1) * kThreads);
    int neighbour = (id + 1) % kThreads;
    CHECK(column[neighbour] == round * 100 + neighbour);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
  CHECK(pthread_barrier_init(&barrier, NULL, kThreads) == 0);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) {
    CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  }
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(atomic_load(&serial) == rounds);
  CHECK(pthread_barrier_destroy(&barrier) == 0);

  CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
  CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  puts("ok");
  return 0;
}
