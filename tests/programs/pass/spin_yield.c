// Loops that wait for another thread and yield the processor with sched_yield: they end only
// if the other thread is allowed to run.
// EXPECT: pass
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../check.h"

static atomic_int turn;
static int steps;  // handed over with `turn`
static int rounds = 20;

static void* play(void* arg) {
  int id = (int)(long)arg;
  for (int i = 0; i < rounds; i++) {
    while (atomic_load(&turn) != id) CHECK(sched_yield() == 0);
    CHECK(steps == 3 * i + id);
    steps++;
    atomic_store(&turn, (id + 1) % 3);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, play, (void*)(2 - i)) == 0);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(steps == 3 * rounds);
  puts("ok");
  return 0;
}
