/* The flags of floating-point exceptions belong to the thread, those of SSE and those of the x87; a new thread has its creator's.
 * EXPECT: pass */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "../check.h"

enum { kRounds = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static volatile double one = 1, zero = 0;
static volatile long double long_one = 1, long_zero = 0;

static int flags_of_sse(void) {
  unsigned value;
  __asm__ volatile("stmxcsr %0" : "=m"(value));
  return value & 0x3f;
}

static int flags_of_x87(void) {
  unsigned short value;
  __asm__ volatile("fnstsw %0" : "=m"(value));
  return value & 0x3f;
}

static void clear_flags(void) {
  const unsigned standard = 0x1f80;
  __asm__ volatile("fnclex; ldmxcsr %0" ::"m"(standard));
}

static void divide_by_zero(void) {
  volatile double quotient = one / zero;
  volatile long double long_quotient = long_one / long_zero;
  (void)quotient;
  (void)long_quotient;
}

static void meet_others(void) {
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&mutex);
    ++shared;
    pthread_mutex_unlock(&mutex);
    if (i % 10 == 0) sched_yield();
  }
}

static void* quiet(void* argument) {
  clear_flags();
  meet_others();
  CHECK(flags_of_sse() == 0 && flags_of_x87() == 0);
  return argument;
}

static void* divider(void* argument) {
  clear_flags();
  divide_by_zero();
  meet_others();
  CHECK(flags_of_sse() == FE_DIVBYZERO && flags_of_x87() == FE_DIVBYZERO);
  return argument;
}

/* With an exception that traps, the other threads' flags must not raise it. */
static void* trapping(void* argument) {
  clear_flags();
  const unsigned short control = 0x37f & ~FE_DIVBYZERO;
  __asm__ volatile("fldcw %0" ::"m"(control));
  meet_others();
  CHECK(flags_of_x87() == 0);
  return argument;
}

static void* heir(void* argument) {
  CHECK(flags_of_sse() == FE_DIVBYZERO && flags_of_x87() == FE_DIVBYZERO);
  return argument;
}

int main(void) {
  void* (*const work[])(void*) = {quiet, divider, trapping, divider, quiet};
  enum { kThreads = sizeof work / sizeof *work };
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work[i], NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(flags_of_sse() == 0 && flags_of_x87() == 0);
  divide_by_zero();
  pthread_create(&threads[0], NULL, heir, NULL);
  pthread_join(threads[0], NULL);
  puts("ok");
}
