/* Signals that are read from a descriptor, and timers that start threads.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

static void* send_signals(void* unused) {
  CHECK(kill(getpid(), SIGUSR1) == 0);
  usleep(1000);
  CHECK(kill(getpid(), SIGUSR2) == 0);
  return unused;
}

static void test_descriptor(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  const int fd = signalfd(-1, &set, 0);
  CHECK(fd >= 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, send_signals, NULL) == 0);
  struct signalfd_siginfo info;
  CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
  CHECK(info.ssi_pid == (unsigned)getpid());
  struct pollfd ready = {fd, POLLIN, 0};
  CHECK(poll(&ready, 1, -1) == 1);
  CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR2);
  CHECK(poll(&ready, 1, 0) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  close(fd);
}

/* A signal to one thread is for that thread alone, even if several read the descriptor. */
static pthread_t first;
static int shared;
static sem_t looked;
static void* send_to_first(void* unused) {
  struct pollfd ready = {shared, POLLIN, 0};
  usleep(2000); /* it is blocked by then */
  CHECK(pthread_sigqueue(first, SIGRTMIN + 1, (union sigval){.sival_int = 42}) == 0);
  CHECK(poll(&ready, 1, 0) == 0);
  CHECK(sem_wait(&looked) == 0);
  usleep(2000);
  CHECK(pthread_kill(first, SIGUSR1) == 0);
  CHECK(sem_wait(&looked) == 0);
  usleep(2000);
  CHECK(pthread_kill(first, SIGUSR2) == 0);
  CHECK(sem_wait(&looked) == 0);
  CHECK(pthread_kill(first, SIGUSR1) == 0);
  CHECK(poll(&ready, 1, 2) == 0);
  return unused;
}

static void test_thread(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGRTMIN + 1);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  first = pthread_self();
  shared = signalfd(-1, &set, SFD_CLOEXEC);
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(shared >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, shared, &event) == 0);
  CHECK(sem_init(&looked, 0, 0) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, send_to_first, NULL) == 0);
  struct signalfd_siginfo info;
  struct pollfd ready = {shared, POLLIN, 0};
  CHECK(poll(&ready, 1, 10000) == 1);
  CHECK(read(shared, &info, sizeof info) == sizeof info);
  CHECK(info.ssi_signo == (unsigned)SIGRTMIN + 1 && info.ssi_int == 42);
  CHECK(info.ssi_code == SI_QUEUE);
  CHECK(sem_post(&looked) == 0);
  CHECK(read(shared, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
  CHECK(sem_post(&looked) == 0);
  CHECK(epoll_wait(epoll, &event, 1, 10000) == 1);
  CHECK(read(shared, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR2);
  CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
  CHECK(sem_post(&looked) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(poll(&ready, 1, 0) == 1);
  CHECK(read(shared, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
  close(epoll);
  close(shared);
}

/* Who sent it: alarms come from the kernel, timers have an id. */
static void test_senders(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  const int fd = signalfd(-1, &set, 0);
  struct signalfd_siginfo info;
  const struct itimerval soon = {{0, 0}, {0, 1000}};
  CHECK(fd >= 0 && setitimer(ITIMER_REAL, &soon, NULL) == 0);
  CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGALRM);
  CHECK(info.ssi_code == SI_KERNEL && info.ssi_pid == 0 && info.ssi_int == 0);

  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  event.sigev_value.sival_int = 7;
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec once = {{0, 0}, {0, 1000000}};
  CHECK(timer_settime(timer, 0, &once, NULL) == 0);
  CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_code == SI_TIMER);
  CHECK(info.ssi_int == 7 && info.ssi_pid == 0 && info.ssi_overrun == 0);
  CHECK(timer_delete(timer) == 0);

  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  siginfo_t taken;
  CHECK(sigwaitinfo(&set, &taken) == SIGALRM && taken.si_code == SI_KERNEL);
  close(fd);
}

static sem_t expired;
static int values;
static void on_expiry(union sigval value) {
  values += value.sival_int;
  sem_post(&expired);
}

static void test_timer(void) {
  CHECK(sem_init(&expired, 0, 0) == 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry};
  event.sigev_value.sival_int = 5;
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec soon = {{0, 0}, {0, 2000000}};
  CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
  CHECK(sem_wait(&expired) == 0 && values == 5);
  CHECK(timer_delete(timer) == 0);
}

int main(void) {
  test_descriptor();
  test_thread();
  test_senders();
  test_timer();
  puts("ok");
  return 0;
}
