// What several conformance programs need: threads, times, memory shared by processes.
#ifndef CLEW_TESTS_CONFORMANCE_HELP_H_
#define CLEW_TESTS_CONFORMANCE_HELP_H_

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define HELP __attribute__((unused)) static

// For timeouts that must not be reached, and for those that must.
enum { kLongMs = 20000, kShortMs = 5 };

HELP struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

HELP int has_passed(clockid_t clock, struct timespec time) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
}

// A time that no clock accepts.
HELP struct timespec bad_time(void) {
  struct timespec time = in_ms(CLOCK_REALTIME, kLongMs);
  time.tv_nsec = 1000000000;
  return time;
}

// Gives other threads time to block. No expectation may depend on it.
HELP void nap(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0) {
  }
}

HELP pthread_t start(void* (*body)(void*), void* argument) {
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, NULL, body, argument), 0);
  return thread;
}

HELP void* finish(pthread_t thread) {
  void* result = NULL;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  return result;
}

struct Call {
  int (*function)(void*);
  void* argument;
  int result;
};

HELP void* make_call(void* call) {
  struct Call* self = (struct Call*)call;
  self->result = self->function(self->argument);
  return NULL;
}

// What `function` returns when a new thread calls it.
HELP int in_thread(int (*function)(void*), void* argument) {
  struct Call call = {function, argument, -1};
  finish(start(make_call, &call));
  return call.result;
}

// What `function` returns (0 to 255) in a child process; 1000 + n if signal n ends the child.
HELP int in_child(int (*function)(void*), void* argument) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(function(argument));
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Zeroed memory that a forked child shares with its parent.
HELP void* shared_memory(size_t size) {
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory != MAP_FAILED);
  return memory;
}

#endif  // CLEW_TESTS_CONFORMANCE_HELP_H_
