// Waiting for signals: sigwait, sigwaitinfo, sigtimedwait, sigsuspend, pause; timers that send
// them.
#define _GNU_SOURCE
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

#include "help.h"

static sigset_t waited;
static sigset_t before;
static sem_t ready;
static volatile sig_atomic_t count;

static void note(int number) { count = count + 1; }

// Blocks SIGUSR1 and SIGRTMIN here, and in the threads created from here on.
static void block_signals(void) {
  sigemptyset(&waited);
  sigaddset(&waited, SIGUSR1);
  sigaddset(&waited, SIGRTMIN);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &waited, &before), 0);
  EXPECT_EQ(sem_init(&ready, 0, 0), 0);
  count = 0;
  struct sigaction action = {.sa_handler = note};
  EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
}

static void unblock_signals(void) { EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0); }

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {
  }
}

static void* wait_for_signal(void* unused) {
  int number = 0;
  sem_post(&ready);
  EXPECT_EQ(sigwait(&waited, &number), 0);
  return (void*)(intptr_t)number;
}

CASE(sigwait, takes_a_pending_signal) {
  block_signals();
  int number = 0;
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(sigwait(&waited, &number), 0);
  EXPECT_EQ(number, SIGUSR1);
  sigset_t pending;
  EXPECT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGUSR1), 0);
  EXPECT_EQ(count, 0);  // no handler runs
  unblock_signals();
  EXPECT_EQ(count, 0);
}

CASE(sigwait, pthread_kill) {
  block_signals();
  pthread_t thread = start(wait_for_signal, NULL);
  wait_for(&ready);
  nap(kShortMs);
  EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
  EXPECT_EQ((intptr_t)finish(thread), SIGUSR1);
  EXPECT_EQ(count, 0);
  unblock_signals();
}

// A signal of the process goes to one of the threads that wait.
CASE(sigwait, kill_wakes_one) {
  block_signals();
  pthread_t first = start(wait_for_signal, NULL);
  pthread_t second = start(wait_for_signal, NULL);
  wait_for(&ready);
  wait_for(&ready);
  nap(kShortMs);
  EXPECT_EQ(kill(getpid(), SIGRTMIN), 0);
  EXPECT_EQ(kill(getpid(), SIGRTMIN), 0);
  EXPECT_EQ((intptr_t)finish(first), SIGRTMIN);
  EXPECT_EQ((intptr_t)finish(second), SIGRTMIN);
  unblock_signals();
}

CASE(sigwaitinfo, tells_the_sender) {
  block_signals();
  siginfo_t info;
  EXPECT_EQ(pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){.sival_int = 9}), 0);
  EXPECT_EQ(sigwaitinfo(&waited, &info), SIGRTMIN);
  EXPECT_EQ(info.si_signo, SIGRTMIN);
  EXPECT_EQ(info.si_code, SI_QUEUE);
  EXPECT_EQ(info.si_value.sival_int, 9);
  EXPECT_EQ(info.si_pid, getpid());
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(sigwaitinfo(&waited, NULL), SIGUSR1);
  unblock_signals();
}

CASE(sigwaitinfo, order_of_real_time_signals) {
  block_signals();
  sigset_t two;
  sigemptyset(&two);
  sigaddset(&two, SIGRTMIN);
  sigaddset(&two, SIGRTMIN + 1);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &two, NULL), 0);
  siginfo_t info;
  for (int i = 0; i < 4; ++i)  // 1, 0, 1, 0
    EXPECT_EQ(sigqueue(getpid(), SIGRTMIN + (i + 1) % 2, (union sigval){.sival_int = i}), 0);
  static const int values[] = {1, 3, 0, 2};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(sigwaitinfo(&two, &info), SIGRTMIN + (i > 1));
    EXPECT_EQ(info.si_value.sival_int, values[i]);
  }
  unblock_signals();
}

CASE(sigtimedwait, results) {
  block_signals();
  struct timespec none = {0, 0};
  struct timespec shortly = {0, kShortMs * 1000000};
  struct timespec bad = {0, 1000000000};
  struct timespec end = in_ms(CLOCK_MONOTONIC, kShortMs);
  EXPECT_ERRNO(sigtimedwait(&waited, NULL, &none), EAGAIN);
  EXPECT_ERRNO(sigtimedwait(&waited, NULL, &shortly), EAGAIN);
  EXPECT(has_passed(CLOCK_MONOTONIC, end));
  EXPECT_ERRNO(sigtimedwait(&waited, NULL, &bad), EINVAL);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(sigtimedwait(&waited, NULL, &none), SIGUSR1);
  unblock_signals();
}

static volatile sig_atomic_t other;
static int wait_result;
static int wait_errno;
static int done;

static void note_other(int number) { other = 1; }

static void* wait_info(void* unused) {
  sem_post(&ready);
  wait_result = sigwaitinfo(&waited, NULL);
  wait_errno = errno;
  __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

// The handler of a signal that is not waited for interrupts the wait.
CASE(sigwaitinfo, eintr) {
  block_signals();
  struct sigaction action = {.sa_handler = note_other};
  EXPECT_EQ(sigaction(SIGUSR2, &action, NULL), 0);
  other = done = 0;
  pthread_t thread = start(wait_info, NULL);
  wait_for(&ready);
  while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
    EXPECT_EQ(pthread_kill(thread, SIGUSR2), 0);
    nap(1);
  }
  finish(thread);
  EXPECT_EQ(wait_result, -1);
  EXPECT_EQ(wait_errno, EINTR);
  EXPECT_EQ(other, 1);
  unblock_signals();
}

CASE(sigsuspend, takes_a_pending_signal) {
  block_signals();
  sigset_t open = before;
  sigdelset(&open, SIGUSR1);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(count, 0);
  EXPECT_ERRNO(sigsuspend(&open), EINTR);
  EXPECT_EQ(count, 1);
  sigset_t now;
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
  EXPECT_EQ(sigismember(&now, SIGUSR1), 1);  // the mask is as before
  unblock_signals();
  EXPECT_EQ(count, 1);
}

static void* suspend(void* unused) {
  sigset_t open;
  sigemptyset(&open);
  sem_post(&ready);
  EXPECT_ERRNO(sigsuspend(&open), EINTR);
  return (void*)(intptr_t)count;
}

CASE(sigsuspend, pthread_kill) {
  block_signals();
  pthread_t thread = start(suspend, NULL);
  wait_for(&ready);
  nap(kShortMs);
  EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
  EXPECT_EQ((intptr_t)finish(thread), 1);
  unblock_signals();
}

static void* pause_once(void* unused) {
  sem_post(&ready);
  wait_result = pause();
  wait_errno = errno;
  __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

CASE(pause, eintr) {
  block_signals();
  unblock_signals();
  done = 0;
  pthread_t thread = start(pause_once, NULL);
  wait_for(&ready);
  while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
    EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
    nap(1);
  }
  finish(thread);
  EXPECT_EQ(wait_result, -1);
  EXPECT_EQ(wait_errno, EINTR);
}

CASE(alarm, sends_sigalrm) {
  sigset_t alarm_only, old;
  int number = 0;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &alarm_only, &old), 0);
  EXPECT_EQ(alarm(100), 0);
  EXPECT(alarm(0) > 0);
  struct itimerval soon = {{0, 0}, {0, 3000}};
  EXPECT_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
  EXPECT_EQ(sigwait(&alarm_only, &number), 0);
  EXPECT_EQ(number, SIGALRM);
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
}

CASE(timer_create, sends_its_signal) {
  block_signals();
  timer_t timer;
  siginfo_t info;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  event.sigev_value.sival_int = 17;
  EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  struct itimerspec soon = {{0, 0}, {0, 3000000}};
  EXPECT_EQ(timer_settime(timer, 0, &soon, NULL), 0);
  EXPECT_EQ(sigwaitinfo(&waited, &info), SIGRTMIN);
  EXPECT_EQ(info.si_code, SI_TIMER);
  EXPECT_EQ(info.si_value.sival_int, 17);
  EXPECT_EQ(timer_delete(timer), 0);
  unblock_signals();
}
