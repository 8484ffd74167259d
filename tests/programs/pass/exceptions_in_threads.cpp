// Exceptions in several threads at once: each unwinds its own stack, exceptions are in flight
// while other threads throw and catch, are carried to another thread, and run destructors that
// lock.
// EXPECT: pass
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../check.h"

static std::mutex mutex;
static int unwound = 0;

struct Unwinder {
  ~Unwinder() {
    std::lock_guard lock(mutex);
    unwound++;
  }
};

static void throw_from(int depth, int id) {
  Unwinder unwinder;
  if (depth == 0) throw std::runtime_error(std::to_string(id));
  throw_from(depth - 1, id);
}

static void throw_and_catch(int id, int rounds) {
  for (int i = 0; i < rounds; i++) {
    try {
      throw_from(3, id);
      CHECK(!"not reached");
    } catch (const std::runtime_error& error) {
      std::this_thread::yield();  // another thread may throw while this one is being handled
      CHECK(error.what() == std::to_string(id));
      CHECK(std::uncaught_exceptions() == 0);
      try {
        throw std::logic_error("nested");
      } catch (const std::exception& nested) {
        CHECK(nested.what() == std::string("nested"));
      }
      try {
        throw;
      } catch (const std::runtime_error& again) {
        CHECK(again.what() == std::to_string(id));
      }
    }
  }
}

static void test_catch(int threads_count, int rounds) {
  std::vector<std::thread> threads;
  for (int i = 0; i < threads_count; i++) threads.emplace_back(throw_and_catch, i, rounds);
  for (std::thread& thread : threads) thread.join();
  CHECK(unwound == threads_count * rounds * 4);
}

static void test_carry() {
  std::future<int> result = std::async(std::launch::async, []() -> int { throw 42; });
  try {
    result.get();
    CHECK(!"not reached");
  } catch (int value) {
    CHECK(value == 42);
  }

  std::exception_ptr carried;
  std::thread thrower([&] {
    try {
      throw std::out_of_range("carried");
    } catch (...) {
      carried = std::current_exception();
    }
  });
  thrower.join();
  try {
    std::rethrow_exception(carried);
  } catch (const std::out_of_range& error) {
    CHECK(error.what() == std::string("carried"));
  }
}

static void test_lock_released() {
  std::mutex local;
  std::thread([&] {
    try {
      std::lock_guard lock(local);
      throw 1;
    } catch (int) {
    }
  }).join();
  CHECK(local.try_lock());
  local.unlock();
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  test_catch(4, rounds);
  test_carry();
  test_lock_released();
  std::puts("ok");
}
