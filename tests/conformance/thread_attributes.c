// pthread_attr_*: defaults, what is stored, what is refused, and what it does to a thread.
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#include "help.h"

static pthread_attr_t attributes;

static pthread_t start_with(void* (*body)(void*), void* argument) {
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, &attributes, body, argument), 0);
  return thread;
}

CASE(pthread_attr_init, defaults) {
  int value = -1;
  size_t size = 0;
  void* address = NULL;
  struct sched_param parameters = {-1};
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_getdetachstate(&attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_CREATE_JOINABLE);
  EXPECT_EQ(pthread_attr_getguardsize(&attributes, &size), 0);
  EXPECT_EQ(size, sysconf(_SC_PAGESIZE));
  EXPECT_EQ(pthread_attr_getinheritsched(&attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_INHERIT_SCHED);
  EXPECT_EQ(pthread_attr_getschedpolicy(&attributes, &value), 0);
  EXPECT_EQ(value, SCHED_OTHER);
  EXPECT_EQ(pthread_attr_getschedparam(&attributes, &parameters), 0);
  EXPECT_EQ(parameters.sched_priority, 0);
  EXPECT_EQ(pthread_attr_getscope(&attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_SCOPE_SYSTEM);
  EXPECT_EQ(pthread_attr_getstacksize(&attributes, &size), 0);
  EXPECT(size >= (size_t)PTHREAD_STACK_MIN);
  EXPECT_EQ(pthread_attr_getstack(&attributes, &address, &size), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

static sem_t done;

static void* note_detached(void* unused) {
  pthread_attr_t own;
  int state = -1;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &own), 0);
  EXPECT_EQ(pthread_attr_getdetachstate(&own, &state), 0);
  EXPECT_EQ(state, PTHREAD_CREATE_DETACHED);
  EXPECT_EQ(pthread_attr_destroy(&own), 0);
  EXPECT_EQ(pthread_detach(pthread_self()), EINVAL);
  sem_post(&done);
  return NULL;
}

CASE(pthread_attr_setdetachstate, detached) {
  int value = -1;
  EXPECT_EQ(sem_init(&done, 0, 0), 0);
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
  EXPECT_EQ(pthread_attr_getdetachstate(&attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_CREATE_DETACHED);
  start_with(note_detached, NULL);
  while (sem_wait(&done) != 0) {
  }
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_attr_setdetachstate, einval) {
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setdetachstate(&attributes, 17), EINVAL);
}

static void* note_attributes(void* copy) {
  EXPECT_EQ(pthread_getattr_np(pthread_self(), (pthread_attr_t*)copy), 0);
  return __builtin_frame_address(0);
}

CASE(pthread_attr_setstacksize, of_a_thread) {
  enum { kSize = 1 << 20 };
  pthread_attr_t seen;
  size_t size = 0;
  void* address = NULL;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, kSize), 0);
  EXPECT_EQ(pthread_attr_getstacksize(&attributes, &size), 0);
  EXPECT_EQ(size, kSize);
  char* frame = (char*)finish(start_with(note_attributes, &seen));
  EXPECT_EQ(pthread_attr_getstack(&seen, &address, &size), 0);
  EXPECT_EQ(size, kSize);
  EXPECT(frame > (char*)address && frame < (char*)address + size);
  EXPECT_EQ(pthread_attr_getstacksize(&seen, &size), 0);
  EXPECT_EQ(size, kSize);
  EXPECT_EQ(pthread_attr_destroy(&seen), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_attr_setstacksize, einval) {
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN - 1), EINVAL);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN), 0);
}

enum { kOwnStack = 256 * 1024 };
static char own_stack[kOwnStack] __attribute__((aligned(4096)));

CASE(pthread_attr_setstack, thread_runs_there) {
  pthread_attr_t seen;
  size_t size = 0;
  void* address = NULL;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstack(&attributes, own_stack, kOwnStack), 0);
  EXPECT_EQ(pthread_attr_getstack(&attributes, &address, &size), 0);
  EXPECT(address == own_stack);
  EXPECT_EQ(size, kOwnStack);
  for (int i = 0; i < 2; ++i) {  // the memory can be used again
    char* frame = (char*)finish(start_with(note_attributes, &seen));
    EXPECT(frame > own_stack && frame < own_stack + kOwnStack);
    EXPECT_EQ(pthread_attr_getstack(&seen, &address, &size), 0);
    EXPECT(address == own_stack);
    EXPECT_EQ(size, kOwnStack);
    EXPECT_EQ(pthread_attr_destroy(&seen), 0);
  }
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_attr_setstack, einval) {
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstack(&attributes, own_stack, PTHREAD_STACK_MIN - 1), EINVAL);
}

CASE(pthread_attr_setstackaddr, top_of_the_stack) {
  void* address = NULL;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, kOwnStack), 0);
  EXPECT_EQ(pthread_attr_setstackaddr(&attributes, own_stack + kOwnStack), 0);
  EXPECT_EQ(pthread_attr_getstackaddr(&attributes, &address), 0);
  EXPECT(address == own_stack + kOwnStack);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_attr_setguardsize, of_a_thread) {
  pthread_attr_t seen;
  size_t size = 0;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setguardsize(&attributes, 4 * page), 0);
  EXPECT_EQ(pthread_attr_getguardsize(&attributes, &size), 0);
  EXPECT_EQ(size, 4 * page);
  finish(start_with(note_attributes, &seen));
  EXPECT_EQ(pthread_attr_getguardsize(&seen, &size), 0);
  EXPECT_EQ(size, 4 * page);
  EXPECT_EQ(pthread_attr_destroy(&seen), 0);
  EXPECT_EQ(pthread_attr_setguardsize(&attributes, 0), 0);
  EXPECT_EQ(pthread_attr_getguardsize(&attributes, &size), 0);
  EXPECT_EQ(size, 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_attr_setinheritsched, results) {
  int value = -1;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), 0);
  EXPECT_EQ(pthread_attr_getinheritsched(&attributes, &value), 0);
  EXPECT_EQ(value, PTHREAD_EXPLICIT_SCHED);
  EXPECT_EQ(pthread_attr_setinheritsched(&attributes, 17), EINVAL);
}

CASE(pthread_attr_setschedpolicy, results) {
  int value = -1;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setschedpolicy(&attributes, SCHED_RR), 0);
  EXPECT_EQ(pthread_attr_getschedpolicy(&attributes, &value), 0);
  EXPECT_EQ(value, SCHED_RR);
  EXPECT_EQ(pthread_attr_setschedpolicy(&attributes, 77), EINVAL);
}

CASE(pthread_attr_setschedparam, results) {
  struct sched_param parameters = {5};
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setschedparam(&attributes, &parameters), EINVAL);  // SCHED_OTHER
  EXPECT_EQ(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO), 0);
  EXPECT_EQ(pthread_attr_setschedparam(&attributes, &parameters), 0);
  parameters.sched_priority = 0;
  EXPECT_EQ(pthread_attr_setschedparam(&attributes, &parameters), EINVAL);
  EXPECT_EQ(pthread_attr_getschedparam(&attributes, &parameters), 0);
  EXPECT_EQ(parameters.sched_priority, 5);
}

static void* note_policy(void* policy) {
  struct sched_param parameters;
  EXPECT_EQ(pthread_getschedparam(pthread_self(), (int*)policy, &parameters), 0);
  return NULL;
}

CASE(pthread_create, explicit_policy) {
  int policy = -1;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), 0);
  EXPECT_EQ(pthread_attr_setschedpolicy(&attributes, SCHED_OTHER), 0);
  finish(start_with(note_policy, &policy));
  EXPECT_EQ(policy, SCHED_OTHER);
}

CASE(pthread_create, eperm_or_real_time) {
  int policy = -1;
  struct sched_param parameters = {1};
  pthread_t thread;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), 0);
  EXPECT_EQ(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO), 0);
  EXPECT_EQ(pthread_attr_setschedparam(&attributes, &parameters), 0);
  int error = pthread_create(&thread, &attributes, note_policy, &policy);
  EXPECT(error == 0 || error == EPERM);
  if (error == 0) {
    finish(thread);
    EXPECT_EQ(policy, SCHED_FIFO);
  }
}

CASE(pthread_attr_setscope, results) {
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setscope(&attributes, PTHREAD_SCOPE_SYSTEM), 0);
  EXPECT_EQ(pthread_attr_setscope(&attributes, PTHREAD_SCOPE_PROCESS), ENOTSUP);
  EXPECT_EQ(pthread_attr_setscope(&attributes, 17), EINVAL);
}

static void* note_affinity(void* set) {
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof(cpu_set_t), (cpu_set_t*)set), 0);
  return NULL;
}

CASE(pthread_attr_setaffinity_np, of_a_thread) {
  cpu_set_t all, one, seen;
  EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  int cpu = 0;
  while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setaffinity_np(&attributes, sizeof one, &one), 0);
  CPU_ZERO(&seen);
  EXPECT_EQ(pthread_attr_getaffinity_np(&attributes, sizeof seen, &seen), 0);
  EXPECT(CPU_EQUAL(&one, &seen));
  EXPECT_EQ(pthread_attr_getaffinity_np(&attributes, 0, &seen), EINVAL);
  CPU_ZERO(&seen);
  finish(start_with(note_affinity, &seen));
  EXPECT(CPU_EQUAL(&one, &seen));
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_create, einval_affinity) {
  cpu_set_t none;
  pthread_t thread;
  CPU_ZERO(&none);
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setaffinity_np(&attributes, sizeof none, &none), 0);
  EXPECT_EQ(pthread_create(&thread, &attributes, note_affinity, &none), EINVAL);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

static void* note_mask(void* mask) {
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, NULL, (sigset_t*)mask), 0);
  return NULL;
}

CASE(pthread_attr_setsigmask_np, of_a_thread) {
  sigset_t mask, seen;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_getsigmask_np(&attributes, &seen), PTHREAD_ATTR_NO_SIGMASK_NP);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  EXPECT_EQ(pthread_attr_setsigmask_np(&attributes, &mask), 0);
  EXPECT_EQ(pthread_attr_getsigmask_np(&attributes, &seen), 0);
  EXPECT_EQ(sigismember(&seen, SIGUSR2), 1);
  finish(start_with(note_mask, &seen));
  EXPECT_EQ(sigismember(&seen, SIGUSR2), 1);
  EXPECT_EQ(sigismember(&seen, SIGUSR1), 0);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, NULL, &seen), 0);
  EXPECT_EQ(sigismember(&seen, SIGUSR2), 0);
  EXPECT_EQ(pthread_attr_setsigmask_np(&attributes, NULL), 0);
  EXPECT_EQ(pthread_attr_getsigmask_np(&attributes, &seen), PTHREAD_ATTR_NO_SIGMASK_NP);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

CASE(pthread_getattr_np, main_thread) {
  pthread_attr_t seen;
  size_t size = 0;
  void* address = NULL;
  int state = -1;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &seen), 0);
  EXPECT_EQ(pthread_attr_getstack(&seen, &address, &size), 0);
  char* frame = (char*)__builtin_frame_address(0);
  EXPECT(frame > (char*)address && frame < (char*)address + size);
  EXPECT_EQ(pthread_attr_getdetachstate(&seen, &state), 0);
  EXPECT_EQ(state, PTHREAD_CREATE_JOINABLE);
  EXPECT_EQ(pthread_attr_destroy(&seen), 0);
}

// Larger than any stack that glibc keeps for reuse.
CASE(pthread_setattr_default_np, stack_size) {
  pthread_attr_t before, changed, seen;
  size_t size = 0;
  void* address = NULL;
  EXPECT_EQ(pthread_getattr_default_np(&before), 0);
  EXPECT_EQ(pthread_getattr_default_np(&changed), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&changed, 32 << 20), 0);
  EXPECT_EQ(pthread_setattr_default_np(&changed), 0);
  finish(start(note_attributes, &seen));
  EXPECT_EQ(pthread_attr_getstack(&seen, &address, &size), 0);
  EXPECT_EQ(size, 32 << 20);
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  EXPECT_EQ(pthread_attr_destroy(&seen), 0);
}

// Not only the attributes that libc itself reads.
CASE(pthread_setattr_default_np, signal_mask_and_detached) {
  pthread_attr_t before, changed;
  sigset_t mask, seen;
  pthread_t thread;
  EXPECT_EQ(pthread_getattr_default_np(&before), 0);
  EXPECT_EQ(pthread_getattr_default_np(&changed), 0);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  EXPECT_EQ(pthread_attr_setsigmask_np(&changed, &mask), 0);
  EXPECT_EQ(pthread_setattr_default_np(&changed), 0);
  finish(start(note_mask, &seen));
  EXPECT_EQ(sigismember(&seen, SIGUSR2), 1);
  EXPECT_EQ(pthread_attr_setdetachstate(&changed, PTHREAD_CREATE_DETACHED), 0);
  EXPECT_EQ(pthread_setattr_default_np(&changed), 0);
  EXPECT_EQ(sem_init(&done, 0, 0), 0);
  EXPECT_EQ(pthread_create(&thread, NULL, note_detached, NULL), 0);
  EXPECT_EQ(sem_wait(&done), 0);
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  finish(start(note_mask, &seen));
  EXPECT_EQ(sigismember(&seen, SIGUSR2), 0);
  EXPECT_EQ(pthread_attr_destroy(&changed), 0);
}

CASE(pthread_setattr_default_np, einval) {
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstack(&attributes, own_stack, kOwnStack), 0);
  EXPECT_EQ(pthread_setattr_default_np(&attributes), EINVAL);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}
