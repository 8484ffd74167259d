// What AddressSanitizer has to know of a thread's stack: deep recursion, exceptions, longjmp and
// pthread_exit across frames with red zones, threads that come, go, and reuse the stacks of others,
// thread-local destructors, an attribute's stack size. Built with -fsanitize=address,undefined; use
// after return is detected, which gives each thread a fake stack.
// EXPECT: pass
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../check.h"

extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=1"; }

static void escape(volatile char* memory) { memory[0] = memory[0]; }

static int deep(int depth) {
  char room[512];
  memset(room, depth & 127, sizeof room);
  escape(room);
  if (depth == 0) return room[1];
  std::this_thread::yield();
  return deep(depth - 1) + room[0] - room[1] + 1;
}

static int thrown(int depth) {
  volatile char room[64] = {};
  escape(room);
  if (depth == 0) throw std::runtime_error("deep");
  return thrown(depth - 1) + room[0];
}

static void jump(jmp_buf& back, int depth) {
  volatile char room[64] = {};
  escape(room);
  if (depth == 0) longjmp(back, 7);
  jump(back, depth - 1);
  escape(room);
}

static int jumped(int depth) {
  jmp_buf back;
  if (const int value = setjmp(back)) return value;
  jump(back, depth);
  return 0;
}

struct Last {
  std::string name = "a name that is too long for the object itself";
  ~Last() { CHECK(name.size() == 45); }
};
static thread_local Last last;

static void leave(int depth) {
  volatile char room[64] = {};
  escape(room);
  if (depth == 0) pthread_exit(reinterpret_cast<void*>(3));
  leave(depth - 1);
  escape(room);
}

static void* body(void* argument) {
  const int number = *static_cast<int*>(argument);
  CHECK(last.name.size() == 45);
  for (int i = 0; i < 3; i++) {
    CHECK(deep(50) == 50);
    try {
      thrown(20 + number);
      CHECK(false);
    } catch (const std::runtime_error& error) {
      CHECK(strcmp(error.what(), "deep") == 0);
    }
    CHECK(jumped(20) == 7);
  }
  leave(10);
  return nullptr;
}

static void round_of_threads(int count, const pthread_attr_t* attributes) {
  std::vector<pthread_t> threads(count);
  std::vector<int> numbers(count);
  for (int i = 0; i < count; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], attributes, body, &numbers[i]) == 0);
  }
  for (pthread_t thread : threads) {
    void* result = nullptr;
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == reinterpret_cast<void*>(3));
  }
}

int main() {
  for (int i = 0; i < 3; i++) round_of_threads(8, nullptr);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  round_of_threads(4, &attributes);
  pthread_attr_destroy(&attributes);
  CHECK(jumped(30) == 7);
  puts("ok");
}
