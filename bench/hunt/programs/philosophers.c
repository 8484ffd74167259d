// N philosophers take their left fork first. When each has one, all wait for the right one.
// ROOT CAUSE: philosophers.c:22; KIND: deadlock
// PREEMPTIONS: N - 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t* fork_mutex;
static int philosophers = 3;

static void* dine(void* arg) {
  int left = (int)(intptr_t)arg;
  int right = (left + 1) % philosophers;
#ifdef FIXED
  if (right < left) {
    right = left;
    left = 0;
  }
#endif
  pthread_mutex_lock(&fork_mutex[left]);
  pthread_mutex_lock(&fork_mutex[right]);
  pthread_mutex_unlock(&fork_mutex[right]);
  pthread_mutex_unlock(&fork_mutex[left]);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) philosophers = atoi(argv[1]);
  fork_mutex = calloc(philosophers, sizeof *fork_mutex);
  pthread_t* thread = calloc(philosophers, sizeof *thread);
  for (int i = 0; i < philosophers; i++) pthread_mutex_init(&fork_mutex[i], NULL);
  for (intptr_t i = 0; i < philosophers; i++) pthread_create(&thread[i], NULL, dine, (void*)i);
  for (int i = 0; i < philosophers; i++) pthread_join(thread[i], NULL);
  free(thread);
  free(fork_mutex);
  return 0;
}
