// Clocks of processor time, and timers that start threads.
#define _GNU_SOURCE
#include <semaphore.h>
#include <signal.h>

#include "help.h"

static int reads(clockid_t clock) {
  struct timespec time = {-1, -1};
  return clock_gettime(clock, &time) == 0 && time.tv_sec >= 0;
}

static sem_t asked;

static void* be_asked(void* unused) {
  while (sem_wait(&asked) != 0) {
  }
  return NULL;
}

CASE(clock_getres, of_a_thread) {
  EXPECT_EQ(sem_init(&asked, 0, 0), 0);
  pthread_t thread = start(be_asked, NULL);
  clockid_t clock;
  struct timespec resolution = {-1, -1};
  EXPECT_EQ(pthread_getcpuclockid(thread, &clock), 0);
  EXPECT(reads(clock));
  EXPECT_EQ(clock_getres(clock, &resolution), 0);
  EXPECT_EQ(resolution.tv_sec, 0);
  EXPECT_EQ(clock_getres(clock, NULL), 0);
  EXPECT_EQ(sem_post(&asked), 0);
  finish(thread);
}

CASE(clock_getcpuclockid, own_process) {
  clockid_t clock;
  EXPECT_EQ(clock_getcpuclockid(0, &clock), 0);
  EXPECT(reads(clock));
  EXPECT_EQ(clock_getcpuclockid(getpid(), &clock), 0);
  EXPECT(reads(clock));
  EXPECT_EQ(clock_getres(clock, NULL), 0);
}

static sem_t fired;
static size_t guard_size;

static void note_thread(union sigval value) {
  pthread_attr_t own;
  EXPECT_EQ(value.sival_int, 7);
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &own), 0);
  EXPECT_EQ(pthread_attr_getguardsize(&own, &guard_size), 0);
  EXPECT_EQ(pthread_attr_destroy(&own), 0);
  EXPECT_EQ(sem_post(&fired), 0);
}

// They apply to the timer's threads, even if the program has destroyed its own copy by then.
CASE(timer_create, attributes_of_threads) {
  pthread_attr_t attributes;
  EXPECT_EQ(sem_init(&fired, 0, 0), 0);
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setguardsize(&attributes, 0), 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD};
  event.sigev_value.sival_int = 7;
  event.sigev_notify_function = note_thread;
  event.sigev_notify_attributes = &attributes;
  timer_t timer;
  EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
  guard_size = 1;
  struct itimerspec soon = {{0, 0}, {0, 1000000}};
  EXPECT_EQ(timer_settime(timer, 0, &soon, NULL), 0);
  EXPECT_EQ(sem_wait(&fired), 0);
  EXPECT_EQ(guard_size, 0);
  EXPECT_EQ(timer_delete(timer), 0);
}
