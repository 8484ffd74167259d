// Each thread has its own signal mask, a handler runs to its end without interleaving of its
// thread's own signals, and a jump out of a handler leaves the thread as it was.
// EXPECT: pass
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#include "../check.h"

static pthread_barrier_t barrier;
static volatile sig_atomic_t handled;
static sigjmp_buf back;

static void on_usr1(int number) {
  (void)number;
  handled++;
  sched_yield();
  handled++;
}

static void on_usr2(int number) {
  (void)number;
  siglongjmp(back, 1);
}

static void* masked(void* number) {
  int mine = *(int*)number;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, mine);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, 0) == 0);
  pthread_barrier_wait(&barrier);
  sigset_t now;
  CHECK(pthread_sigmask(SIG_BLOCK, 0, &now) == 0);
  CHECK(sigismember(&now, mine) == 1);
  CHECK(sigismember(&now, mine == SIGUSR1 ? SIGUSR2 : SIGUSR1) == 0);
  pthread_barrier_wait(&barrier);
  return 0;
}

static void* raising(void* unused) {
  for (int i = 0; i < 5; i++) raise(SIGUSR1);
  return unused;
}

int main(void) {
  pthread_t a, b;
  int first = SIGUSR1, second = SIGUSR2;
  CHECK(pthread_barrier_init(&barrier, 0, 2) == 0);
  CHECK(pthread_create(&a, 0, masked, &first) == 0);
  CHECK(pthread_create(&b, 0, masked, &second) == 0);
  pthread_join(a, 0);
  pthread_join(b, 0);

  struct sigaction action = {0};
  action.sa_handler = on_usr1;
  CHECK(sigaction(SIGUSR1, &action, 0) == 0);
  struct sigaction seen;
  CHECK(sigaction(SIGUSR1, 0, &seen) == 0 && seen.sa_handler == on_usr1);
  CHECK(pthread_create(&a, 0, raising, 0) == 0);
  pthread_join(a, 0);
  raising(0);
  CHECK(handled == 20);

  signal(SIGUSR2, on_usr2);
  if (sigsetjmp(back, 1) == 0) {
    raise(SIGUSR2);
    CHECK(!"reached");
  }
  CHECK(pthread_create(&a, 0, raising, 0) == 0);
  pthread_join(a, 0);
  CHECK(handled == 30);
  puts("ok");
  return 0;
}
