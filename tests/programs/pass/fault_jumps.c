// Threads that jump out of the handler of a fault, between accesses that are counted together.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static char* forbidden;
static volatile int steps, jumps;
static __thread sigjmp_buf back;
static void on_fault(int number) { siglongjmp(back, number); }

static void* work(void* unused) {
  for (volatile int i = 0; i < 20; ++i) {
    ++steps;
    if (sigsetjmp(back, 1) == 0) {
      forbidden[i] = 1;
      return "no fault";
    }
    ++jumps;
    ++steps;
  }
  return unused;
}

int main(void) {
  forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  signal(SIGSEGV, on_fault);
  pthread_t threads[3];
  void* result[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], &result[i]);
  const int right = !result[0] && !result[1] && !result[2] && steps > 0 && jumps > 0;
  puts(right ? "done" : "wrong");
  return !right;
}
