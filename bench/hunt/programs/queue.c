// A bounded queue with two flags that are read and changed outside its lock: the reader is let in
// at the writer's first item and takes as many items as it was promised, present or not.
// ROOT CAUSE: queue.c:26; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { kCapacity = 32 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int queue[kCapacity];
static int head, tail;
static volatile int may_enqueue = 1, may_dequeue = 0;
static int items = 10;  // at most kCapacity

static void* write_items(void* arg) {
  (void)arg;
  if (!may_enqueue) return NULL;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
    queue[tail++] = i;
    pthread_mutex_unlock(&mutex);
#ifndef FIXED
    may_dequeue = 1;
#endif
  }
  may_enqueue = 0;
#ifdef FIXED
  may_dequeue = 1;
#endif
  return NULL;
}

static void* read_items(void* arg) {
  (void)arg;
  if (!may_dequeue) return NULL;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
    assert(head < tail);
    assert(queue[head++] == i);
    pthread_mutex_unlock(&mutex);
  }
  may_dequeue = 0;
  may_enqueue = 1;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) items = atoi(argv[1]);
  pthread_t writer, reader;
  pthread_create(&writer, NULL, write_items, NULL);
  pthread_create(&reader, NULL, read_items, NULL);
  pthread_join(writer, NULL);
  pthread_join(reader, NULL);
  return 0;
}
