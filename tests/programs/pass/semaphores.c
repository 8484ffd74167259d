// POSIX semaphores: a bounded buffer between producers and consumers, trywait, getvalue, overflow.
// EXPECT: pass
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#include "../check.h"

enum { kSlots = 3, kPairs = 2 };

static sem_t free_slots, full_slots, mutex;
static int slots[kSlots], first, used;
static int items = 20;
static long sums[kPairs];

static void* produce(void* arg) {
  (void)arg;
  for (int i = 1; i <= items; i++) {
    CHECK(sem_wait(&free_slots) == 0);
    CHECK(sem_wait(&mutex) == 0);
    CHECK(used < kSlots);
    slots[(first + used++) % kSlots] = i;
    CHECK(sem_post(&mutex) == 0);
    CHECK(sem_post(&full_slots) == 0);
  }
  return NULL;
}

static void* consume(void* arg) {
  long* sum = arg;
  for (int i = 0; i < items; i++) {
    CHECK(sem_wait(&full_slots) == 0);
    CHECK(sem_wait(&mutex) == 0);
    CHECK(used > 0);
    *sum += slots[first];
    first = (first + 1) % kSlots;
    used--;
    CHECK(sem_post(&mutex) == 0);
    CHECK(sem_post(&free_slots) == 0);
  }
  return NULL;
}

static void check_values(void) {
  sem_t sem;
  int value = -1;
  CHECK(sem_init(&sem, 0, 2) == 0);
  CHECK(sem_trywait(&sem) == 0);
  CHECK(sem_getvalue(&sem, &value) == 0 && value == 1);
  CHECK(sem_trywait(&sem) == 0);
  errno = 0;
  CHECK(sem_trywait(&sem) == -1 && errno == EAGAIN);
  CHECK(sem_post(&sem) == 0);
  CHECK(sem_wait(&sem) == 0);
  CHECK(sem_getvalue(&sem, &value) == 0 && value == 0);
  CHECK(sem_destroy(&sem) == 0);

  errno = 0;
  CHECK(sem_init(&sem, 0, (unsigned)INT_MAX + 1u) == -1 && errno == EINVAL);
  CHECK(sem_init(&sem, 0, INT_MAX) == 0);
  errno = 0;
  CHECK(sem_post(&sem) == -1 && errno == EOVERFLOW);
  CHECK(sem_destroy(&sem) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) items = atoi(argv[1]);
  CHECK(sem_init(&free_slots, 0, kSlots) == 0);
  CHECK(sem_init(&full_slots, 0, 0) == 0);
  CHECK(sem_init(&mutex, 0, 1) == 0);
  pthread_t producers[kPairs], consumers[kPairs];
  for (int i = 0; i < kPairs; i++) {
    CHECK(pthread_create(&consumers[i], NULL, consume, &sums[i]) == 0);
    CHECK(pthread_create(&producers[i], NULL, produce, NULL) == 0);
  }
  long total = 0;
  for (int i = 0; i < kPairs; i++) {
    CHECK(pthread_join(producers[i], NULL) == 0);
    CHECK(pthread_join(consumers[i], NULL) == 0);
  }
  for (int i = 0; i < kPairs; i++) total += sums[i];
  CHECK(total == (long)kPairs * items * (items + 1) / 2);
  check_values();
  puts("ok");
  return 0;
}
