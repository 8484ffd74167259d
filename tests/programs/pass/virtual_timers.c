/* Time that passes only when no thread can run: hours of sleep, timers, alarms, timer descriptors,
 * the processor's time stamp.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../check.h"

static volatile sig_atomic_t alarms;
static void on_alarm(int number) {
  (void)number;
  ++alarms;
}

static void on_alarm_slowly(int number) {
  on_alarm(number);
  usleep(600000);
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_timer_descriptor(void) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  CHECK(fd >= 0);
  const struct itimerspec every = {{0, 1000000}, {0, 2000000}};
  CHECK(timerfd_settime(fd, 0, &every, NULL) == 0);
  uint64_t total = 0;
  while (total < 5) {
    uint64_t count = 0;
    CHECK(read(fd, &count, sizeof count) == sizeof count);
    total += count;
  }
  struct itimerspec left;
  CHECK(timerfd_gettime(fd, &left) == 0 && left.it_interval.tv_nsec == 1000000);
  close(fd);
}

static void test_signals(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(alarm(1) == 0);
  CHECK(alarm(2) == 1);
  CHECK(pause() == -1 && errno == EINTR && alarms == 1);

  const struct itimerval soon = {{0, 1000}, {0, 2000}};
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  while (alarms < 4) pause();
  const struct itimerval off = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);

  const struct itimerval once_soon = {{0, 0}, {0, 2000}};
  CHECK(setitimer(ITIMER_REAL, &once_soon, NULL) == 0);
  errno = 0;
  CHECK(sleep(5) == 4 && errno == EINTR); /* what is left, in whole seconds */

  /* The time that a handler takes does not count towards the sleep. */
  action.sa_handler = on_alarm_slowly;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(setitimer(ITIMER_REAL, &once_soon, NULL) == 0);
  const struct timespec short_sleep = {
      0, 400000000}; /* long enough for a loaded machine to deliver the signal in it */
  struct timespec left = {0, 0};
  CHECK(nanosleep(&short_sleep, &left) == -1 && errno == EINTR && left.tv_nsec > 1000000);
  action.sa_handler = on_alarm;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);

  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  timer_t timer;
  CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
  const struct itimerspec once = {{0, 0}, {0, 3000000}};
  CHECK(timer_settime(timer, 0, &once, NULL) == 0);
  const int before = alarms;
  const struct timespec long_sleep = {1, 0};
  struct timespec rest;
  if (alarms == before) CHECK(nanosleep(&long_sleep, &rest) == -1 && errno == EINTR);
  CHECK(alarms == before + 1 && rest.tv_nsec > 0);
  CHECK(timer_delete(timer) == 0);
}

static void* sleep_an_hour(void* unused) {
  sleep(3600);
  return unused;
}

int main(int count, char** arguments) {
  (void)arguments;
  test_timer_descriptor();
  test_signals();
  CHECK(poll(NULL, 0, 2) == 0);
  const uint64_t stamp = __rdtsc();
  const double begin = now(CLOCK_MONOTONIC);
  if (count > 1) { /* takes an hour without clew */
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, sleep_an_hour, NULL) == 0);
    for (int i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(now(CLOCK_MONOTONIC) - begin >= 3600);
  }
  usleep(3000);
  CHECK(now(CLOCK_MONOTONIC) - begin >= 0.003);
  CHECK(__rdtsc() > stamp);
  puts("ok");
  return 0;
}
