// Two workers meet at a barrier each round and then check whether the work is finished. A fast one
// can enter the next round and set the flag before the slow one has checked: the slow one leaves
// too early, and the fast one waits at the barrier for ever.
// ROOT CAUSE: barrier_misuse.c:23; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static atomic_int finished;
static int last_round = 1;
static int rounds_done[2];

static void* work(void* arg) {
  int id = *(int*)arg;
  for (int round = 0;; round++) {
    if (id == 0 && round == last_round) atomic_store(&finished, 1);
    pthread_barrier_wait(&barrier);
    rounds_done[id]++;
    if (atomic_load(&finished)) return NULL;
  }
}

int main(int argc, char** argv) {
  if (argc > 1) last_round = atoi(argv[1]);
  pthread_barrier_init(&barrier, NULL, 2);
  int ids[2] = {0, 1};
  pthread_t workers[2];
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, work, &ids[i]);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  pthread_barrier_destroy(&barrier);
  printf("%d and %d rounds\n", rounds_done[0], rounds_done[1]);
  return rounds_done[0] == rounds_done[1] ? 0 : 1;
}
