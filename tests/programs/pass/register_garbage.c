/* Prints what functions have saved on their stacks: the registers of their callers, the first of which is the runtime. A replay
 * departs if there is any difference.
 * EXPECT: pass */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { kThreads = 3, kWords = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t found[kThreads][kWords];

/* Saves all registers that belong to its caller. */
__attribute__((noinline)) static void save(void) {
  __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15", "memory");
}

__attribute__((noinline)) static void look(uint64_t* to) {
  volatile uint64_t words[kWords];
  for (int i = 0; i < kWords; ++i) to[i] = words[i];
}

static void* work(void* argument) {
  save();
  look(found[(long)argument]);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i)
    for (int k = 0; k < kWords; ++k)
      if (found[i][k] != 0) printf("%d %d %lx\n", i, k, (unsigned long)found[i][k]);
  return 0;
}
