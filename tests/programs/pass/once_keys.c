// pthread_once, and keys with destructors: each thread has its own values, destructors run once
// for each value that is not null, see the key already cleared, and run again for values that
// destructors have set.
// EXPECT: pass
#include <pthread.h>
#include <stdatomic.h>

#include "../check.h"

enum { kThreads = 4 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_runs;

static pthread_key_t plain, chained, silent;
static atomic_int plain_destroyed, chained_destroyed;

static void destroy_plain(void* value) {
  CHECK(pthread_getspecific(plain) == NULL);
  atomic_fetch_add(&plain_destroyed, 1);
  free(value);
}

// Counts down to null: a destructor that sets its own key again is called again.
static void destroy_chained(void* value) {
  atomic_fetch_add(&chained_destroyed, 1);
  long left = (long)value - 1;
  CHECK(pthread_setspecific(chained, (void*)left) == 0);
}

static void make_keys(void) {
  once_runs++;
  CHECK(pthread_key_create(&plain, destroy_plain) == 0);
  CHECK(pthread_key_create(&chained, destroy_chained) == 0);
  CHECK(pthread_key_create(&silent, NULL) == 0);
}

static void* work(void* arg) {
  long id = (long)arg;
  CHECK(pthread_once(&once, make_keys) == 0);
  CHECK(once_runs == 1);
  CHECK(pthread_getspecific(plain) == NULL);

  int* own = malloc(sizeof *own);
  *own = (int)id;
  CHECK(pthread_setspecific(plain, own) == 0);
  CHECK(pthread_setspecific(chained, (void*)2L) == 0);
  CHECK(pthread_setspecific(silent, &once) == 0);
  pthread_once(&once, make_keys);  // time for the others
  CHECK(pthread_getspecific(plain) == own && *own == (int)id);
  if (id % 2) pthread_exit((void*)id);
  return (void*)id;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 2;
  for (int round = 0; round < rounds; round++) {
    pthread_t threads[kThreads];
    for (long i = 0; i < kThreads; i++) {
      CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
    }
    for (long i = 0; i < kThreads; i++) {
      void* result = NULL;
      CHECK(pthread_join(threads[i], &result) == 0);
      CHECK((long)result == i);
    }
  }
  int total = kThreads * rounds;
  CHECK(once_runs == 1);
  CHECK(atomic_load(&plain_destroyed) == total);
  CHECK(atomic_load(&chained_destroyed) == 2 * total);
  CHECK(pthread_key_delete(plain) == 0);
  CHECK(pthread_key_delete(chained) == 0);
  CHECK(pthread_key_delete(silent) == 0);
  puts("ok");
  return 0;
}
