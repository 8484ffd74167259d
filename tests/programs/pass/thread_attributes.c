// What a program can ask for and find out about threads: attributes, stacks, names, processors,
// policies, clocks, and the answers for threads that are gone or joined. (ThreadSanitizer does not
// survive a thread that joins itself.)
// EXPECT: pass
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "../check.h"

static void check_own_stack(size_t at_least) {
  pthread_attr_t attributes;
  char* stack;
  size_t size;
  char here;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getstack(&attributes, (void**)&stack, &size) == 0);
  CHECK(stack <= &here && &here < stack + size);
  CHECK(size >= at_least);
  CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void* look_around(void* expected_detach_state) {
  check_own_stack(256 * 1024);
  pthread_attr_t attributes;
  int detach_state = -1;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getdetachstate(&attributes, &detach_state) == 0);
  CHECK(detach_state == (int)(intptr_t)expected_detach_state);
  CHECK(pthread_attr_destroy(&attributes) == 0);
  return NULL;
}

static void* on_given_stack(void* stack) {
  char here;
  CHECK((char*)stack <= &here && &here < (char*)stack + 512 * 1024);
  check_own_stack(0);
  return NULL;
}

static void check_stacks(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  check_own_stack(1);
  CHECK(pthread_create(&thread, NULL, look_around, (void*)PTHREAD_CREATE_JOINABLE) == 0);
  CHECK(pthread_join(thread, NULL) == 0);

  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN - 1) == EINVAL);
  CHECK(pthread_attr_setstacksize(&attributes, 300 * 1024) == 0);
  CHECK(pthread_attr_setguardsize(&attributes, 0) == 0);
  CHECK(pthread_create(&thread, &attributes, look_around, (void*)PTHREAD_CREATE_JOINABLE) == 0);
  CHECK(pthread_join(thread, NULL) == 0);

  void* stack;
  CHECK(posix_memalign(&stack, 4096, 512 * 1024) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack, 512 * 1024) == 0);
  for (int i = 0; i < 2; i++) {
    CHECK(pthread_create(&thread, &attributes, on_given_stack, stack) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  CHECK(pthread_attr_destroy(&attributes) == 0);
  free(stack);
}

static sem_t go;
static sem_t done;

static void* look_and_tell(void* expected) {
  look_around(expected);
  CHECK(sem_post(&done) == 0);
  return NULL;
}

static void check_detached(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setdetachstate(&attributes, 17) == EINVAL);
  CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
  CHECK(pthread_create(&thread, &attributes, look_and_tell, (void*)PTHREAD_CREATE_DETACHED) == 0);
  int state = -1;
  CHECK(pthread_attr_getdetachstate(&attributes, &state) == 0);
  CHECK(state == PTHREAD_CREATE_DETACHED);
  CHECK(sem_wait(&done) == 0);
  CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void* wait_to_go(void* unused) {
  (void)unused;
  CHECK(sem_wait(&go) == 0);
  return NULL;
}

static void check_names(pthread_t thread) {
  char name[16];
  CHECK(pthread_setname_np(thread, "fifteen letters") == 0);
  CHECK(pthread_setname_np(thread, "sixteen letters!") == ERANGE);
  CHECK(pthread_getname_np(thread, name, sizeof name) == 0);
  CHECK(strcmp(name, "fifteen letters") == 0);
  CHECK(pthread_getname_np(thread, name, 15) == ERANGE);
}

static void check_processors(pthread_t thread) {
  cpu_set_t all;
  cpu_set_t one;
  cpu_set_t got;
  CHECK(pthread_getaffinity_np(thread, sizeof all, &all) == 0);
  CHECK(CPU_COUNT(&all) > 0);
  int first = 0;
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CHECK(pthread_setaffinity_np(thread, sizeof one, &one) == EINVAL);
  CPU_SET(first, &one);
  CHECK(pthread_setaffinity_np(thread, sizeof one, &one) == 0);
  CHECK(pthread_getaffinity_np(thread, sizeof got, &got) == 0);
  CHECK(CPU_EQUAL(&got, &one));
  CHECK(sched_getaffinity(0, sizeof got, &got) == 0);
  CHECK(CPU_EQUAL(&got, &all));
}

static void check_policies(pthread_t thread) {
  int policy = -1;
  struct sched_param parameters = {0};
  CHECK(pthread_getschedparam(thread, &policy, &parameters) == 0);
  CHECK(policy == SCHED_OTHER && parameters.sched_priority == 0);
  CHECK(pthread_setschedparam(thread, SCHED_OTHER, &parameters) == 0);
  CHECK(pthread_setschedprio(thread, 0) == 0);
  CHECK(pthread_setschedprio(thread, 5) == EINVAL);
  parameters.sched_priority = 1000;
  CHECK(pthread_setschedparam(thread, SCHED_FIFO, &parameters) == EINVAL);
  CHECK(pthread_setschedparam(thread, 99, &parameters) == EINVAL);
  parameters.sched_priority = 3;
  int error = pthread_setschedparam(thread, SCHED_FIFO, &parameters);
  CHECK(error == 0 || error == EPERM);
  if (error == 0) {
    parameters.sched_priority = 0;
    CHECK(pthread_getschedparam(thread, &policy, &parameters) == 0);
    CHECK(policy == SCHED_FIFO && parameters.sched_priority == 3);
  }
  CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

static void check_clocks(pthread_t thread) {
  clockid_t clock;
  struct timespec first;
  struct timespec second;
  CHECK(pthread_getcpuclockid(thread, &clock) == 0);
  CHECK(clock_gettime(clock, &first) == 0);
  CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
  CHECK(clock_gettime(clock, &first) == 0);
  do {
    CHECK(clock_gettime(clock, &second) == 0);
  } while (second.tv_sec == first.tv_sec && second.tv_nsec == first.tv_nsec);
  CHECK(second.tv_sec > first.tv_sec || second.tv_nsec > first.tv_nsec);
}

static void check_joining(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_to_go, NULL) == 0);
  struct timespec past = {1, 0};
  CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
  CHECK(pthread_timedjoin_np(thread, NULL, &past) == ETIMEDOUT);
  CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
  CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
  check_names(thread);
  check_processors(thread);
  check_policies(thread);
  check_clocks(thread);
  CHECK(sem_post(&go) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  CHECK(sem_init(&go, 0, 0) == 0 && sem_init(&done, 0, 0) == 0);
  for (int i = 0; i < rounds; i++) {
    check_stacks();
    check_detached();
    check_joining();
  }
  CHECK(pthread_setconcurrency(2) == 0 && pthread_getconcurrency() == 2);
  CHECK(pthread_setconcurrency(-1) == EINVAL);
  puts("ok");
  return 0;
}
