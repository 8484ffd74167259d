// pthread_create, join, detach, exit and their relatives; names, processors, policies.
#define _GNU_SOURCE
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#include "help.h"

static sem_t gate;

static void* give_back(void* argument) { return argument; }

static void* wait_at_gate(void* argument) {
  while (sem_wait(&gate) != 0) {
  }
  return argument;
}

static pthread_t start_waiting(void* argument) {
  EXPECT_EQ(sem_init(&gate, 0, 0), 0);
  return start(wait_at_gate, argument);
}

CASE(pthread_create, passes_argument_and_result) {
  int value = 0;
  pthread_t threads[10];
  for (int i = 0; i < 10; ++i) threads[i] = start(give_back, &value + i);
  for (int i = 0; i < 10; ++i) EXPECT(finish(threads[i]) == &value + i);
}

CASE(pthread_create, eagain_no_memory) {
  pthread_attr_t attributes;
  pthread_t thread;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, (size_t)1 << 48), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, give_back, NULL), EAGAIN);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

static pthread_t grandchild;

static void* start_and_leave(void* argument) {
  grandchild = start(give_back, argument);
  return NULL;
}

CASE(pthread_create, joined_by_another) {
  int value;
  finish(start(start_and_leave, &value));
  EXPECT(finish(grandchild) == &value);
}

static void* exit_deep(void* argument) {
  pthread_exit(argument);
  return NULL;
}

CASE(pthread_exit, gives_result) {
  int value;
  EXPECT(finish(start(exit_deep, &value)) == &value);
}

CASE(pthread_join, without_result) { EXPECT_EQ(pthread_join(start(give_back, NULL), NULL), 0); }

CASE(pthread_join, waits) {
  int value;
  pthread_t thread = start_waiting(&value);
  EXPECT_EQ(sem_post(&gate), 0);
  EXPECT(finish(thread) == &value);
}

CASE(pthread_join, edeadlk_self) { EXPECT_EQ(pthread_join(pthread_self(), NULL), EDEADLK); }

static sem_t detached_done;

static void wait_for_detached(void) {
  while (sem_wait(&detached_done) != 0) {
  }
}

static void* wait_detached(void* unused) {
  wait_at_gate(NULL);
  sem_post(&detached_done);
  return NULL;
}

CASE(pthread_join, einval_detached) {
  EXPECT_EQ(sem_init(&gate, 0, 0), 0);
  EXPECT_EQ(sem_init(&detached_done, 0, 0), 0);
  pthread_t thread = start(wait_detached, NULL);
  EXPECT_EQ(pthread_detach(thread), 0);
  EXPECT_EQ(pthread_join(thread, NULL), EINVAL);
  EXPECT_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
  EXPECT_EQ(sem_post(&gate), 0);
  wait_for_detached();
}

CASE(pthread_tryjoin_np, ebusy_then_success) {
  int value;
  pthread_t thread = start_waiting(&value);
  void* result = NULL;
  EXPECT_EQ(pthread_tryjoin_np(thread, &result), EBUSY);
  EXPECT_EQ(sem_post(&gate), 0);
  int error;
  while ((error = pthread_tryjoin_np(thread, &result)) == EBUSY) nap(1);
  EXPECT_EQ(error, 0);
  EXPECT(result == &value);
}

CASE(pthread_timedjoin_np, results) {
  int value;
  pthread_t thread = start_waiting(&value);
  void* result = NULL;
  struct timespec time = in_ms(CLOCK_REALTIME, kShortMs);
  EXPECT_EQ(pthread_timedjoin_np(thread, &result, &time), ETIMEDOUT);
  EXPECT(has_passed(CLOCK_REALTIME, time));
  EXPECT_EQ(sem_post(&gate), 0);
  time = in_ms(CLOCK_REALTIME, kLongMs);
  EXPECT_EQ(pthread_timedjoin_np(thread, &result, &time), 0);
  EXPECT(result == &value);
  EXPECT_EQ(pthread_timedjoin_np(pthread_self(), &result, &time), EDEADLK);
  EXPECT_EQ(pthread_timedjoin_np(start(give_back, NULL), &result, NULL), 0);
}

CASE(pthread_clockjoin_np, results) {
  int value;
  pthread_t thread = start_waiting(&value);
  void* result = NULL;
  struct timespec time = in_ms(CLOCK_MONOTONIC, kShortMs);
  EXPECT_EQ(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &time), ETIMEDOUT);
  EXPECT(has_passed(CLOCK_MONOTONIC, time));
  EXPECT_EQ(pthread_clockjoin_np(thread, &result, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
  EXPECT_EQ(sem_post(&gate), 0);
  time = in_ms(CLOCK_MONOTONIC, kLongMs);
  EXPECT_EQ(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &time), 0);
  EXPECT(result == &value);
}

static void* detach_self(void* unused) {
  EXPECT_EQ(pthread_detach(pthread_self()), 0);
  EXPECT_EQ(pthread_detach(pthread_self()), EINVAL);
  sem_post(&detached_done);
  return NULL;
}

CASE(pthread_detach, self_and_einval) {
  EXPECT_EQ(sem_init(&detached_done, 0, 0), 0);
  start(detach_self, NULL);
  wait_for_detached();
}

CASE(pthread_detach, ended_thread) {
  for (int i = 0; i < 3; ++i) {
    pthread_t thread = start(give_back, NULL);
    if (i) nap(1);
    EXPECT_EQ(pthread_detach(thread), 0);
  }
}

static void* own_id(void* id) {
  *(pthread_t*)id = pthread_self();
  return NULL;
}

CASE(pthread_self, and_pthread_equal) {
  pthread_t seen;
  pthread_t thread = start(own_id, &seen);
  finish(thread);
  EXPECT(pthread_equal(pthread_self(), pthread_self()));
  EXPECT(pthread_equal(thread, seen));
  EXPECT(!pthread_equal(pthread_self(), seen));
}

CASE(pthread_setname_np, stores) {
  char name[16] = "";
  EXPECT_EQ(pthread_setname_np(pthread_self(), "fifteen letters"), 0);
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  EXPECT(strcmp(name, "fifteen letters") == 0);
  pthread_t thread = start_waiting(NULL);
  EXPECT_EQ(pthread_setname_np(thread, "other"), 0);
  EXPECT_EQ(pthread_getname_np(thread, name, sizeof name), 0);
  EXPECT(strcmp(name, "other") == 0);
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  EXPECT(strcmp(name, "fifteen letters") == 0);
  EXPECT_EQ(sem_post(&gate), 0);
  finish(thread);
}

CASE(pthread_setname_np, erange) {
  char name[16];
  EXPECT_EQ(pthread_setname_np(pthread_self(), "sixteen letters!"), ERANGE);
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, 15), ERANGE);
}

CASE(pthread_setaffinity_np, stores) {
  cpu_set_t before, one, after;
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
  EXPECT(CPU_COUNT(&before) >= 1);
  int cpu = 0;
  while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &before)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  pthread_t thread = start_waiting(NULL);
  EXPECT_EQ(pthread_setaffinity_np(thread, sizeof one, &one), 0);
  EXPECT_EQ(pthread_getaffinity_np(thread, sizeof after, &after), 0);
  EXPECT(CPU_EQUAL(&one, &after));
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof after, &after), 0);
  EXPECT(CPU_EQUAL(&before, &after));
  EXPECT_EQ(sem_post(&gate), 0);
  finish(thread);
}

CASE(pthread_setaffinity_np, einval) {
  cpu_set_t none;
  CPU_ZERO(&none);
  EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof none, &none), EINVAL);
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), 1, &none), EINVAL);
}

CASE(pthread_getcpuclockid, of_threads) {
  clockid_t clock;
  struct timespec time;
  EXPECT_EQ(pthread_getcpuclockid(pthread_self(), &clock), 0);
  EXPECT_EQ(clock_gettime(clock, &time), 0);
  pthread_t thread = start_waiting(NULL);
  EXPECT_EQ(pthread_getcpuclockid(thread, &clock), 0);
  EXPECT_EQ(clock_gettime(clock, &time), 0);
  EXPECT_EQ(sem_post(&gate), 0);
  int error = 0;
  for (int i = 0; i < 2000 && error == 0; ++i) {  // until it has ended
    error = pthread_getcpuclockid(thread, &clock);
    nap(1);
  }
  EXPECT_EQ(error, ESRCH);
  finish(thread);
}

CASE(pthread_getschedparam, default_policy) {
  int policy = -1;
  struct sched_param parameters = {-1};
  EXPECT_EQ(pthread_getschedparam(pthread_self(), &policy, &parameters), 0);
  EXPECT_EQ(policy, SCHED_OTHER);
  EXPECT_EQ(parameters.sched_priority, 0);
}

CASE(pthread_setschedparam, stores) {
  int policy = -1;
  struct sched_param parameters = {0};
  pthread_t thread = start_waiting(NULL);
  EXPECT_EQ(pthread_setschedparam(thread, SCHED_BATCH, &parameters), 0);
  EXPECT_EQ(pthread_getschedparam(thread, &policy, &parameters), 0);
  EXPECT_EQ(policy, SCHED_BATCH);
  parameters.sched_priority = 3;
  int error = pthread_setschedparam(thread, SCHED_RR, &parameters);
  EXPECT(error == 0 || error == EPERM);
  parameters.sched_priority = -1;
  EXPECT_EQ(pthread_getschedparam(thread, &policy, &parameters), 0);
  EXPECT_EQ(policy, error == 0 ? SCHED_RR : SCHED_BATCH);
  EXPECT_EQ(parameters.sched_priority, error == 0 ? 3 : 0);
  EXPECT_EQ(sem_post(&gate), 0);
  finish(thread);
}

CASE(pthread_setschedparam, einval) {
  struct sched_param parameters = {5};
  EXPECT_EQ(pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters), EINVAL);
  parameters.sched_priority = 0;
  EXPECT_EQ(pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters), EINVAL);
  EXPECT_EQ(pthread_setschedparam(pthread_self(), 77, &parameters), EINVAL);
}

CASE(pthread_setschedprio, results) {
  EXPECT_EQ(pthread_setschedprio(pthread_self(), 0), 0);
  EXPECT_EQ(pthread_setschedprio(pthread_self(), 5), EINVAL);
}

CASE(pthread_setconcurrency, results) {
  EXPECT_EQ(pthread_getconcurrency(), 0);
  EXPECT_EQ(pthread_setconcurrency(3), 0);
  EXPECT_EQ(pthread_getconcurrency(), 3);
  EXPECT_EQ(pthread_setconcurrency(-1), EINVAL);
  EXPECT_EQ(pthread_getconcurrency(), 3);
  EXPECT_EQ(pthread_setconcurrency(0), 0);
}

CASE(pthread_yield, succeeds) { EXPECT_EQ(pthread_yield(), 0); }
CASE(sched_yield, succeeds) { EXPECT_EQ(sched_yield(), 0); }

static void* end_the_process(void* main_thread) {
  return (void*)(intptr_t)(pthread_join(*(pthread_t*)main_thread, NULL) == 0 ? (_exit(7), 0) : 1);
}

static int exit_main_thread(void* unused) {
  pthread_t self = pthread_self();
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_the_process, &self) != 0) return 1;
  pthread_exit(NULL);
}

CASE(pthread_exit, of_the_main_thread) { EXPECT_EQ(in_child(exit_main_thread, NULL), 7); }

static int exit_last_thread(void* unused) { pthread_exit((void*)3); }

// The process ends with status 0 when its last thread does.
CASE(pthread_exit, of_the_last_thread) { EXPECT_EQ(in_child(exit_last_thread, NULL), 0); }
