// Stack attributes: a thread with a large stack can recurse deeply, small stacks with guards
// suffice for small functions, and the attributes read back as they were set.
// EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

enum { kFrame = 1024, kThreads = 3 };

static long depth = 20000;  // of frames of at least 1 KiB: 20 MiB and more

static long recurse(long level) {
  volatile char frame[kFrame];
  memset((char*)frame, (int)level, sizeof frame);
  if (level == 0) return frame[0];
  long below = recurse(level - 1);
  CHECK(frame[kFrame - 1] == (char)level);  // the frames below did not overwrite this one
  return below + 1;
}

static void* recurse_deeply(void* arg) { return (void*)recurse((long)arg); }

static void run_with(size_t stack_size, size_t guard_size, long levels) {
  pthread_attr_t attr;
  size_t size = 0, guard = 0;
  CHECK(pthread_attr_init(&attr) == 0);
  CHECK(pthread_attr_setstacksize(&attr, stack_size) == 0);
  CHECK(pthread_attr_setguardsize(&attr, guard_size) == 0);
  CHECK(pthread_attr_getstacksize(&attr, &size) == 0 && size == stack_size);
  CHECK(pthread_attr_getguardsize(&attr, &guard) == 0 && guard == guard_size);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    CHECK(pthread_create(&threads[i], &attr, recurse_deeply, (void*)levels) == 0);
  }
  for (int i = 0; i < kThreads; i++) {
    void* result = NULL;
    CHECK(pthread_join(threads[i], &result) == 0);
    CHECK((long)result == levels);
  }
  CHECK(pthread_attr_destroy(&attr) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) depth = atol(argv[1]);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  run_with((size_t)depth * (kFrame + 512) + (1u << 20), page, depth);
  run_with(256 * 1024, 4 * page, 50);
  run_with(256 * 1024, 0, 50);

  pthread_attr_t attr;
  CHECK(pthread_attr_init(&attr) == 0);
  CHECK(pthread_attr_setstacksize(&attr, 1) == EINVAL);
  CHECK(pthread_attr_destroy(&attr) == 0);
  puts("ok");
  return 0;
}
