// A reader looks at the last byte of a large block, whose address it got when it was created. The
// owner frees the block without touching it. Built with -fsanitize=address.
// ROOT CAUSE: asan_free_only.c:21; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail sanitizer
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSize = 20000 };

static void* read_last(void* block) {
  const volatile char* last = (const char*)block + kSize - 1;
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += *last;
  return sum == 0 ? NULL : block;
}

static void* free_it(void* block) {
  // A correct owner would wait for the reader here.
  free(block);
  return NULL;
}

int main(void) {
  void* block = calloc(kSize, 1);
  void* result = NULL;
  pthread_t reader, owner;
  pthread_create(&reader, NULL, read_last, block);
  pthread_create(&owner, NULL, free_it, block);
  pthread_join(reader, &result);
  pthread_join(owner, NULL);
  puts("read");
  return result == NULL ? 0 : 1;
}
