/* Prints what is in memory after it was freed, and in memory that nobody has written to: a race that
 * does so must replay.
 * EXPECT: pass */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWords = 6, kObjects = 40 };

static uint64_t sum;
static uint64_t* objects[kObjects];

static void look(const volatile uint64_t* words) {
  for (int i = 0; i < kWords; ++i) sum = sum * 31 + words[i];
}

static void* work(void* unused) {
  for (int i = 0; i < kObjects; ++i) {
    look(objects[i]);
    look(malloc(kWords * sizeof(uint64_t) + (size_t)i * 24));
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < kObjects; ++i)
    objects[i] = calloc(kWords + (size_t)(i % 4) * 8, sizeof(uint64_t));
  for (int i = 0; i < kObjects; i += 2) free(objects[i]);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  printf("%016lx\n", (unsigned long)sum);
  return 0;
}
