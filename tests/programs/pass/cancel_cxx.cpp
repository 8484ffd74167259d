// Cancellation and pthread_exit in C++: both unwind the thread, through destructors and through
// handlers that rethrow.
// EXPECT: pass
#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>

#include <string>

#include "../check.h"

static sem_t arrived;
static sem_t never;
static std::string trace;

struct Guard {
  const char* name;
  ~Guard() { trace += name; }
};

static void wait_inside() {
  Guard inner{"a"};
  sem_post(&arrived);
  sem_wait(&never);
  trace += "!";
}

static void* catch_and_rethrow(void*) {
  Guard outer{"d"};
  try {
    Guard guard{"b"};
    wait_inside();
  } catch (...) {
    trace += "c";
    throw;
  }
  return nullptr;
}

static void* catch_by_name(void*) {
  try {
    wait_inside();
  } catch (abi::__forced_unwind&) {
    trace += "f";
    throw;
  }
  return nullptr;
}

static void* catch_an_exception_only(void*) {
  try {
    wait_inside();
  } catch (const std::exception&) {
    trace += "!";
  }
  return nullptr;
}

static void* push_handlers(void*) {
  pthread_cleanup_push([](void*) { trace += "h"; }, nullptr);
  wait_inside();
  pthread_cleanup_pop(0);
  return nullptr;
}

static void* exit_inside(void*) {
  Guard outer{"e"};
  sem_post(&arrived);
  try {
    Guard guard{"x"};
    pthread_exit(reinterpret_cast<void*>(5));
  } catch (...) {
    throw;
  }
}

static void expect(void* (*body)(void*), const char* expected, void* result) {
  trace.clear();
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, body, nullptr) == 0);
  sem_wait(&arrived);
  if (result == PTHREAD_CANCELED) CHECK(pthread_cancel(thread) == 0);
  void* got = nullptr;
  CHECK(pthread_join(thread, &got) == 0);
  CHECK(got == result);
  CHECK(trace == expected);
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  sem_init(&arrived, 0, 0);
  sem_init(&never, 0, 0);
  for (int i = 0; i < rounds; i++) {
    expect(catch_and_rethrow, "abcd", PTHREAD_CANCELED);
    expect(catch_by_name, "af", PTHREAD_CANCELED);
    expect(catch_an_exception_only, "a", PTHREAD_CANCELED);
    expect(push_handlers, "ah", PTHREAD_CANCELED);
    expect(exit_inside, "xe", reinterpret_cast<void*>(5));
  }
  puts("ok");
  return 0;
}
