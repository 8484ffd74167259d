// A stack whose reader trusts a flag that the first push sets and nothing ever clears: it pops as
// often as it likes once something has been pushed.
// ROOT CAUSE: stack.c:38; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { kCapacity = 32, kUnderflow = -1 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stack[kCapacity];
static int top;
static int pushed;      // something has been pushed
static int items = 10;  // at most kCapacity

static int pop(void) { return top == 0 ? kUnderflow : stack[--top]; }

static void* write_items(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
    stack[top++] = i;
    pushed = 1;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* read_items(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    int there = pushed && top > 0;
#else
    int there = pushed;
#endif
    if (there) assert(pop() != kUnderflow);
    pthread_mutex_unlock(&mutex);
  }
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
