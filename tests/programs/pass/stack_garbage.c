/* Reads what is left on its stack below its frames, where the runtime must leave nothing: it prints
 * it, so that a replay departs if there is any difference. With locks, waits, I/O, caught system
 * calls, handlers that return and handlers that jump, and enough work for the runtime's own timer.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

enum { kThreads = 3, kRounds = 12, kWords = 1500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, shared;
static int ends[2];
static uint64_t sums[kThreads];
static int handled;
static __thread sigjmp_buf back;

__attribute__((noinline)) static uint64_t look(void) {
  volatile uint64_t words[kWords];
  uint64_t sum = 0;
  for (int i = 0; i < kWords; ++i) sum = sum * 1000003 + words[i];
  return sum;
}

static void on_signal(int number) {
  char byte = 1;
  __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
  CHECK(syscall(SYS_write, ends[1], &byte, 1L) == 1 && read(ends[0], &byte, 1) == 1);
  if (number == SIGUSR2) siglongjmp(back, 1);
}

static void* work(void* argument) {
  const long self = (long)argument;
  for (int round = 0; round < kRounds; ++round) {
    pthread_mutex_lock(&mutex);
    while (turn % kThreads != self) pthread_cond_wait(&changed, &mutex);
    ++turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    sums[self] = sums[self] * 31 + look();

    ++shared;  // races, on purpose
    if (round % 4 == 0) nanosleep(&(struct timespec){0, 1000}, NULL);
    if (round % 4 == 1) raise(SIGUSR1);
    if (round % 4 == 2 && sigsetjmp(back, 1) == 0) raise(SIGUSR2);
    if (round % 4 == 3) syscall(SYS_getppid);
    sums[self] = sums[self] * 31 + look();
  }
  return NULL;
}

int main(void) {
  const struct sigaction action = {.sa_handler = on_signal};
  CHECK(pipe(ends) == 0);
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGUSR2, &action, NULL) == 0);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(handled == kThreads * kRounds / 2);
  for (int i = 0; i < kThreads; ++i) printf("%d %016lx\n", i, (unsigned long)sums[i]);
  printf("%016lx\n", (unsigned long)look());
  return 0;
}
