// The main thread leaves by pthread_exit and another thread joins it, prints, and ends the process
// by being its last thread. (ThreadSanitizer does not know that the main thread can be joined, and
// stops.)
// EXPECT: pass
#include <pthread.h>

#include "../check.h"

static pthread_t main_thread;

static void* join_main(void* arg) {
  long expected = *(long*)arg;
  void* result = NULL;
  CHECK(pthread_join(main_thread, &result) == 0);
  CHECK((long)result == expected);
  puts("ok");
  return NULL;
}

int main(int argc, char** argv) {
  static long result;
  result = argc > 1 ? atol(argv[1]) : 7;
  main_thread = pthread_self();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, join_main, &result) == 0);
  CHECK(pthread_detach(thread) == 0);
  pthread_exit((void*)result);
}
