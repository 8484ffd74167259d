// A key whose destructor sets it again each time: the system gives up after
// PTHREAD_DESTRUCTOR_ITERATIONS rounds. (ThreadSanitizer uses the last round for itself and
// crashes in it.)
// EXPECT: pass
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../check.h"

enum { kThreads = 3 };

static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void* value) {
  atomic_fetch_add(&destroyed, 1);
  CHECK(pthread_getspecific(key) == NULL);
  CHECK(pthread_setspecific(key, value) == 0);
}

static void* work(void* arg) {
  CHECK(pthread_setspecific(key, arg) == 0);
  return NULL;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 2;
  CHECK(pthread_key_create(&key, destroy) == 0);
  for (int round = 0; round < rounds; round++) {
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; i++) {
      CHECK(pthread_create(&threads[i], NULL, work, &threads[i]) == 0);
    }
    for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  }
  CHECK(atomic_load(&destroyed) == rounds * kThreads * PTHREAD_DESTRUCTOR_ITERATIONS);
  CHECK(pthread_key_delete(key) == 0);
  puts("ok");
  return 0;
}
