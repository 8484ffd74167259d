// A bounded buffer with one condition variable for both sides. A signal that is meant for a
// consumer can wake a producer, which finds the buffer full and waits again: all wait.
// ROOT CAUSE: bounded_buffer.c:26; KIND: lost-wakeup
// PREEMPTIONS: 0; CHOICES: 2 (both consumers run first; no single switch at any point will do)
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdlib.h>

enum { kCapacity = 1, kMost = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int buffer[kCapacity];
static int first, count;
static int rounds = 1;

static void put(int item) {
  pthread_mutex_lock(&mutex);
  while (count == kCapacity) pthread_cond_wait(&changed, &mutex);
  buffer[(first + count) % kCapacity] = item;
  count++;
#ifdef FIXED
  pthread_cond_broadcast(&changed);
#else
  // One of those who wait, whichever.
  pthread_cond_signal(&changed);
#endif
  pthread_mutex_unlock(&mutex);
}

static int get(void) {
  pthread_mutex_lock(&mutex);
  while (count == 0) pthread_cond_wait(&changed, &mutex);
  int item = buffer[first];
  first = (first + 1) % kCapacity;
  count--;
#ifdef FIXED
  pthread_cond_broadcast(&changed);
#else
  pthread_cond_signal(&changed);
#endif
  pthread_mutex_unlock(&mutex);
  return item;
}

static void* produce(void* arg) {
  (void)arg;
  for (int i = 0; i < rounds; i++) put(i);
  return NULL;
}

static void* consume(void* arg) {
  (void)arg;
  for (int i = 0; i < rounds; i++) get();
  return NULL;
}

int main(int argc, char** argv) {
  int pairs = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) rounds = atoi(argv[2]);
  if (pairs > kMost / 2) pairs = kMost / 2;
  pthread_t thread[kMost];
  for (int i = 0; i < 2 * pairs; i++)
    pthread_create(&thread[i], NULL, i < pairs ? produce : consume, NULL);
  for (int i = 0; i < 2 * pairs; i++) pthread_join(thread[i], NULL);
  return 0;
}
