// pthread spin locks: exclusion, trylock.
// EXPECT: pass
#include <errno.h>
#include <pthread.h>

#include "../check.h"

enum { kThreads = 3 };

static pthread_spinlock_t spin;
static int count;
static int times = 30;

static void* count_up(void* arg) {
  (void)arg;
  for (int i = 0; i < times; i++) {
    CHECK(pthread_spin_lock(&spin) == 0);
    int seen = count;
    count = seen + 1;
    CHECK(pthread_spin_unlock(&spin) == 0);
  }
  return NULL;
}

static void* try_up(void* arg) {
  (void)arg;
  for (int i = 0; i < times; i++) {
    int error;
    while ((error = pthread_spin_trylock(&spin)) != 0) CHECK(error == EBUSY);
    count++;
    CHECK(pthread_spin_unlock(&spin) == 0);
  }
  return NULL;
}

static void* expect_busy(void* arg) {
  (void)arg;
  CHECK(pthread_spin_trylock(&spin) == EBUSY);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) times = atoi(argv[1]);
  CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    CHECK(pthread_create(&threads[i], NULL, i == 0 ? try_up : count_up, NULL) == 0);
  }
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(count == kThreads * times);

  CHECK(pthread_spin_lock(&spin) == 0);
  CHECK(pthread_create(&threads[0], NULL, expect_busy, NULL) == 0);
  CHECK(pthread_join(threads[0], NULL) == 0);
  CHECK(pthread_spin_unlock(&spin) == 0);
  CHECK(pthread_spin_destroy(&spin) == 0);
  puts("ok");
  return 0;
}
