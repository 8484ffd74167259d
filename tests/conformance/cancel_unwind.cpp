// Cancellation and pthread_exit in C++: the stack is unwound, destructors run, catch (...) must
// rethrow.
#include <cxxabi.h>
#include <semaphore.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "help.h"

namespace {

sem_t ready;
sem_t never;
int destroyed;
int caught;

struct Guard {
  ~Guard() { ++destroyed; }
};

void reset() {
  destroyed = caught = 0;
  EXPECT_EQ(sem_init(&ready, 0, 0), 0);
  EXPECT_EQ(sem_init(&never, 0, 0), 0);
}

void block() {
  sem_post(&ready);
  for (;;) sem_wait(&never);
}

void cancel_when_ready(pthread_t thread) {
  while (sem_wait(&ready) != 0) {
  }
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT(finish(thread) == PTHREAD_CANCELED);
}

void* block_with_guards(void*) {
  Guard first;
  [] {
    Guard second;
    block();
  }();
  return nullptr;
}

CASE(forced_unwind, destructors_run) {
  reset();
  cancel_when_ready(start(block_with_guards, nullptr));
  EXPECT_EQ(destroyed, 2);
}

void* block_and_rethrow(void*) {
  Guard outer;
  try {
    Guard inner;
    block();
  } catch (...) {
    EXPECT_EQ(destroyed, 1);
    ++caught;
    throw;
  }
  return nullptr;
}

CASE(forced_unwind, catch_all_rethrows) {
  reset();
  cancel_when_ready(start(block_and_rethrow, nullptr));
  EXPECT_EQ(caught, 1);
  EXPECT_EQ(destroyed, 2);
}

void* block_and_catch_by_type(void*) {
  try {
    block();
  } catch (const std::exception&) {
    caught += 100;  // it is not a std::exception
  } catch (const abi::__forced_unwind&) {
    ++caught;
    throw;
  }
  return nullptr;
}

CASE(forced_unwind, has_a_type) {
  reset();
  cancel_when_ready(start(block_and_catch_by_type, nullptr));
  EXPECT_EQ(caught, 1);
}

void* exit_with_guards(void* result) {
  Guard guard;
  try {
    Guard inner;
    pthread_exit(result);
  } catch (const abi::__forced_unwind&) {
    ++caught;
    throw;
  }
}

CASE(pthread_exit, destructors_run) {
  reset();
  EXPECT(finish(start(exit_with_guards, &ready)) == &ready);
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(caught, 1);
}

std::mutex mutex;
std::condition_variable condition;

void* wait_for_condition(void*) {
  std::unique_lock lock(mutex);
  sem_post(&ready);
  for (;;) condition.wait(lock);
  return nullptr;
}

// The lock guard unlocks: the mutex was taken again before the unwinding began.
CASE(forced_unwind, condition_variable_wait) {
  reset();
  cancel_when_ready(start(wait_for_condition, nullptr));
  EXPECT(mutex.try_lock());
  mutex.unlock();
}

void note_cleanup(void* number) {
  caught = caught * 10 + static_cast<int>(reinterpret_cast<intptr_t>(number));
}

struct Noted {
  explicit Noted(int number) : number_(number) {}
  ~Noted() { caught = caught * 10 + number_; }
  int number_;
};

void* handlers_and_destructors(void*) {
  Noted first(1);
  pthread_cleanup_push(note_cleanup, reinterpret_cast<void*>(2));
  Noted third(3);
  pthread_cleanup_push(note_cleanup, reinterpret_cast<void*>(4));
  block();
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return nullptr;
}

CASE(forced_unwind, handlers_and_destructors_in_order) {
  reset();
  cancel_when_ready(start(handlers_and_destructors, nullptr));
  EXPECT_EQ(caught, 4321);
}

struct ThreadLocal {
  ~ThreadLocal() { ++destroyed; }
  int used = 0;
};
thread_local ThreadLocal local;

void* block_with_thread_local(void*) {
  local.used = 1;
  block();
  return nullptr;
}

CASE(forced_unwind, thread_locals_are_destroyed) {
  reset();
  cancel_when_ready(start(block_with_thread_local, nullptr));
  EXPECT_EQ(destroyed, 1);
}

CASE(forced_unwind, std_thread) {
  reset();
  std::thread thread([] {
    Guard guard;
    block();
  });
  while (sem_wait(&ready) != 0) {
  }
  EXPECT_EQ(pthread_cancel(thread.native_handle()), 0);
  thread.join();
  EXPECT_EQ(destroyed, 1);
}

// A destructor that reaches a cancellation point while the stack is unwound continues.
struct Sleeper {
  ~Sleeper() {
    nap(1);
    pthread_testcancel();
    ++destroyed;
  }
};

void* block_with_sleeper(void*) {
  Sleeper sleeper;
  block();
  return nullptr;
}

CASE(forced_unwind, points_in_destructors) {
  reset();
  cancel_when_ready(start(block_with_sleeper, nullptr));
  EXPECT_EQ(destroyed, 1);
}

void* throw_and_catch_then_block(void*) {
  try {
    throw 1;
  } catch (int) {
    ++caught;
  }
  try {
    block();
  } catch (...) {
    try {
      throw 2;  // another exception inside the handler
    } catch (int) {
      ++caught;
    }
    throw;
  }
  return nullptr;
}

CASE(forced_unwind, beside_other_exceptions) {
  reset();
  cancel_when_ready(start(throw_and_catch_then_block, nullptr));
  EXPECT_EQ(caught, 2);
}

}  // namespace
