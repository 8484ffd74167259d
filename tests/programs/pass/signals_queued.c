/* What POSIX says of signals that are pending: how many, which come from a timer, what becomes
 * of them when they are ignored; and children that nobody waits for.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

static volatile sig_atomic_t handled;
static volatile int last_value, in_order = 1;
static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  ++handled;
  if (info->si_code != SI_QUEUE) return;
  in_order &= info->si_value.sival_int == last_value + 1;
  last_value = info->si_value.sival_int;
}

static sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

static void set_handler(int number, int flags) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
  CHECK(sigaction(number, &action, NULL) == 0);
}

static void test_many(void) {
  enum { kMany = 3000 };
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_SIGPENDING, &limit) == 0);
  const int many = limit.rlim_cur < kMany + 100 ? 500 : kMany; /* others may have some too */
  const sigset_t set = only(SIGRTMIN);
  set_handler(SIGRTMIN, 0);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  for (int i = 1; i <= many; ++i)
    CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
  CHECK(handled == many && last_value == many && in_order);
}

static void test_overrun(void) {
  const sigset_t set = only(SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  timer_t timers[2];
  for (int i = 0; i < 2; ++i) {
    event.sigev_value.sival_int = i;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timers[i]) == 0);
  }
  /* The second expires much more often than it could ever be reported. */
  const struct itimerspec often = {{0, 20000000}, {0, 20000000}}, always = {{0, 100}, {0, 100}};
  CHECK(timer_settime(timers[0], 0, &often, NULL) == 0);
  CHECK(timer_settime(timers[1], 0, &always, NULL) == 0);
  const struct timespec length = {0, 110000000};
  CHECK(nanosleep(&length, NULL) == 0);
  siginfo_t info;
  int told[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    CHECK(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_code == SI_TIMER);
    const int which = info.si_value.sival_int;
    CHECK(timer_settime(timers[which], 0, &(struct itimerspec){{0, 0}, {0, 0}}, NULL) == 0);
    told[which] = info.si_overrun + 1;
  }
  CHECK(told[0] >= 5 && told[1] >= 1000000); /* each once, and all of them counted */
  struct itimerspec left;
  CHECK(timer_gettime(timers[0], &left) == 0 && left.it_value.tv_nsec == 0);
  CHECK(timer_delete(timers[0]) == 0 && timer_delete(timers[1]) == 0);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void test_interval(void) {
  set_handler(SIGALRM, SA_RESTART);
  handled = 0;
  const struct itimerval interval = {{0, 10000}, {0, 10000}};
  CHECK(setitimer(ITIMER_REAL, &interval, NULL) == 0);
  while (handled < 5) pause();
  struct itimerval left;
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_interval.tv_usec == 10000);
  CHECK(left.it_value.tv_usec > 0 && left.it_value.tv_usec <= 10000);
  CHECK(setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL) == 0);
}

static void test_ignored(void) {
  const sigset_t set = only(SIGUSR2);
  set_handler(SIGUSR2, 0);
  handled = 0;
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(raise(SIGUSR2) == 0);
  CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
  set_handler(SIGUSR2, 0);
  sigset_t pending;
  CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR2));
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && handled == 0);
}

static void test_children(void) {
  set_handler(SIGCHLD, SA_NOCLDWAIT);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  CHECK(child > 0);
  int result;
  do result = wait(&status);
  while (result == -1 && errno == EINTR);
  CHECK(result == -1 && errno == ECHILD);
}

static void test_stack(void) {
  const stack_t both = {
      .ss_sp = malloc(65536), .ss_size = 65536, .ss_flags = SS_DISABLE | SS_ONSTACK};
  CHECK(sigaltstack(&both, NULL) == -1 && errno == EINVAL);
  free(both.ss_sp);
}

int main(void) {
  test_many();
  test_overrun();
  test_interval();
  test_ignored();
  test_children();
  test_stack();
  puts("ok");
  return 0;
}
