// A stack whose size is read outside its lock: two readers see the only element that is there, and
// both pop it.
// ROOT CAUSE: stack_size.c:36; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { kCapacity = 32 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stack[kCapacity];
static volatile int top;
static int items = 3;  // at most kCapacity

static void* write_items(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
    stack[top] = i;
    top = top + 1;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* read_items(void* arg) {
  (void)arg;
  int sum = 0;
  for (int i = 0; i < items; i++) {
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    if (top > 0) {
#else
    if (top > 0) {
      pthread_mutex_lock(&mutex);
#endif
      assert(top > 0);
      top = top - 1;
      sum += stack[top];
#ifdef FIXED
    }
    pthread_mutex_unlock(&mutex);
#else
      pthread_mutex_unlock(&mutex);
    }
#endif
  }
  return (void*)(long)sum;
}

int main(int argc, char** argv) {
  if (argc > 1) items = atoi(argv[1]);
  pthread_t writer, readers[2];
  pthread_create(&writer, NULL, write_items, NULL);
  for (int i = 0; i < 2; i++) pthread_create(&readers[i], NULL, read_items, NULL);
  pthread_join(writer, NULL);
  for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
  return 0;
}
