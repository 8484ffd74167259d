// To save system calls, the producer posts the semaphore only if the consumer has said that it
// waits. The consumer says so after it has checked: an item that arrives in between is never
// announced.
// ROOT CAUSE: semaphore_lost.c:22; KIND: lost-wakeup
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t wake_up;
static atomic_int items;
static atomic_int waiting;
static int expected = 2;
static int consumed;

static void* consume(void* arg) {
  (void)arg;
  while (consumed < expected) {
    if (atomic_load(&items) == 0) {
      atomic_store(&waiting, 1);
      sem_wait(&wake_up);
    }
    atomic_fetch_sub(&items, 1);
    consumed++;
  }
  return NULL;
}

static void* produce(void* arg) {
  (void)arg;
  for (int i = 0; i < expected; i++) {
    atomic_fetch_add(&items, 1);
    if (atomic_exchange(&waiting, 0)) sem_post(&wake_up);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) expected = atoi(argv[1]);
  sem_init(&wake_up, 0, 0);
  pthread_t consumer, producer;
  pthread_create(&consumer, NULL, consume, NULL);
  pthread_create(&producer, NULL, produce, NULL);
  pthread_join(consumer, NULL);
  pthread_join(producer, NULL);
  sem_destroy(&wake_up);
  printf("consumed %d of %d\n", consumed, expected);
  return consumed == expected ? 0 : 1;
}
