/* Signals between threads: handlers, masks, sigwait, sigsuspend, queued values, alternate stacks,
 * handlers that jump, calls that are interrupted.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

static volatile sig_atomic_t handled;
static pthread_t handled_by;
static void on_signal(int number) {
  (void)number;
  ++handled;
  handled_by = pthread_self();
}

static void set_handler(int number, int flags) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  CHECK(sigaction(number, &action, NULL) == 0);
}

static void test_raise(void) {
  set_handler(SIGUSR1, 0);
  handled = 0;
  CHECK(raise(SIGUSR1) == 0 && handled == 1);
  CHECK(kill(getpid(), SIGUSR1) == 0 && handled == 2);
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(raise(SIGUSR1) == 0 && handled == 2);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 && handled == 3);
}

static int ends[2];
static int read_error;
static volatile sig_atomic_t has_read;
static void* read_pipe(void* unused) {
  char c;
  read_error = read(ends[0], &c, 1) == 1 ? 0 : errno;
  has_read = 1;
  return unused;
}

static void test_interrupted(int flags, int expected) {
  CHECK(pipe(ends) == 0);
  set_handler(SIGUSR1, flags);
  handled = has_read = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read_pipe, NULL) == 0);
  // The first may come before it reads.
  for (int i = 0; expected == EINTR ? !has_read : i < 20; ++i) {
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    usleep(10000);
  }
  CHECK(write(ends[1], "x", 1) == 1);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(handled >= 1 && pthread_equal(handled_by, thread));
  CHECK(read_error == expected);
  close(ends[0]);
  close(ends[1]);
}

static void* wait_for_value(void* set) {
  siginfo_t info;
  int number;
  // The kernel may wake a thread for a signal that another then takes.
  do number = sigwaitinfo(set, &info);
  while (number == -1 && errno == EINTR);
  CHECK(number == SIGRTMIN + 1);
  CHECK(info.si_code == SI_QUEUE);
  return (void*)(long)info.si_value.sival_int;
}

static void test_wait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigaddset(&set, SIGUSR2);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, wait_for_value, &set) == 0);
  const union sigval one = {.sival_int = 1}, two = {.sival_int = 2};
  CHECK(sigqueue(getpid(), SIGRTMIN + 1, one) == 0);
  CHECK(sigqueue(getpid(), SIGRTMIN + 1, two) == 0);
  void *first, *second;
  CHECK(pthread_join(threads[0], &first) == 0 && pthread_join(threads[1], &second) == 0);
  CHECK((long)first + (long)second == 3);
  const struct timespec soon = {0, 1000000};
  CHECK(sigtimedwait(&set, NULL, &soon) == -1 && errno == EAGAIN);
  CHECK(kill(getpid(), SIGUSR2) == 0);
  int number = 0;
  CHECK(sigwait(&set, &number) == 0 && number == SIGUSR2);

  sigset_t none;
  sigemptyset(&none);
  set_handler(SIGUSR2, 0);
  handled = 0;
  CHECK(raise(SIGUSR2) == 0 && handled == 0);
  CHECK(sigsuspend(&none) == -1 && errno == EINTR && handled == 1);
}

static char own_stack[64 * 1024];
static int on_own_stack;
static sigjmp_buf back;
static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  char here;
  on_own_stack = &here >= own_stack && &here < own_stack + sizeof own_stack;
  CHECK(number == SIGSEGV && info->si_addr == (void*)8);
  siglongjmp(back, 1);
}

static void test_fault(void) {
  const stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
  stack_t before;
  CHECK(sigaltstack(&stack, &before) == 0);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
  for (int i = 0; i < 2; ++i) {
    if (sigsetjmp(back, 1) == 0) {
      *(volatile int*)8 = 1;
      CHECK(0);
    }
    CHECK(on_own_stack);
  }
  stack_t now;
  CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == own_stack);
}

static sem_t semaphore;
static void* wait_semaphore(void* unused) {
  while (sem_wait(&semaphore) != 0) CHECK(errno == EINTR);
  return unused;
}

static void test_other_waits(void) {
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  set_handler(SIGUSR1, 0);
  handled = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_semaphore, NULL) == 0);
  usleep(100000);
  CHECK(pthread_kill(thread, SIGUSR1) == 0);
  while (handled == 0) usleep(10000);
  CHECK(sem_post(&semaphore) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(signal(SIGUSR1, SIG_IGN) == on_signal && raise(SIGUSR1) == 0 && handled == 1);
}

int main(void) {
  test_raise();
  test_interrupted(0, EINTR);
  test_interrupted(SA_RESTART, 0);
  test_wait();
  test_fault();
  test_other_waits();
  puts("ok");
  return 0;
}
