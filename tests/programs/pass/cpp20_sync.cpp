// The synchronisation of C++20 and what came before it: latch, barrier, counting_semaphore, atomic
// wait and notify, jthread and stop_token, async, future, promise, packaged_task, call_once,
// guards of function-static variables.
// EXPECT: pass
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "../check.h"

using namespace std::chrono_literals;

static void test_latch(int workers) {
  std::latch start(1), done(workers);
  std::vector<int> results(workers);
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; i++) {
    threads.emplace_back([&, i] {
      start.wait();
      results[i] = i + 1;
      done.count_down();
    });
  }
  CHECK(!done.try_wait());
  start.count_down();
  done.wait();
  int sum = 0;
  for (int result : results) sum += result;
  CHECK(sum == workers * (workers + 1) / 2);
}

static void test_barrier(int workers, int rounds) {
  std::vector<int> values(workers);
  int completed = 0;
  auto on_completion = [&]() noexcept {
    for (int value : values) CHECK(value == completed + 1);
    completed++;
  };
  std::barrier barrier(workers, on_completion);
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; i++) {
    threads.emplace_back([&, i] {
      for (int round = 1; round <= rounds; round++) {
        values[i] = round;
        if (i % 2 == 0) {
          barrier.arrive_and_wait();
        } else {
          barrier.wait(barrier.arrive());
        }
        CHECK(completed >= round);
      }
    });
  }
  threads.clear();
  CHECK(completed == rounds);

  std::barrier<> shrinking(2);
  std::jthread leaver([&] { shrinking.arrive_and_drop(); });
  shrinking.arrive_and_wait();
  shrinking.arrive_and_wait();  // alone now
}

static void test_semaphore(int workers) {
  std::counting_semaphore<3> slots(3);
  std::binary_semaphore turn(1);
  std::atomic<int> inside = 0;
  int total = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; i++) {
    threads.emplace_back([&] {
      slots.acquire();
      CHECK(++inside <= 3);
      turn.acquire();
      total++;
      turn.release();
      inside--;
      slots.release();
    });
  }
  threads.clear();
  CHECK(total == workers);
  CHECK(slots.try_acquire() && slots.try_acquire() && slots.try_acquire());
  CHECK(!slots.try_acquire());
  auto start = std::chrono::steady_clock::now();
  CHECK(!slots.try_acquire_for(2ms));
  CHECK(std::chrono::steady_clock::now() - start >= 2ms);
  slots.release(3);
  CHECK(slots.try_acquire_for(10s));
}

template <typename T>
static void test_atomic_wait(int rounds) {
  std::atomic<T> ball = 0;
  std::jthread pong([&] {
    for (T i = 1; i < T(2 * rounds); i += 2) {
      ball.wait(T(i - 1));
      CHECK(ball.load() == i);
      ball.store(T(i + 1));
      ball.notify_one();
    }
  });
  for (T i = 0; i < T(2 * rounds); i += 2) {
    ball.store(T(i + 1));
    ball.notify_one();
    ball.wait(T(i + 1));
    CHECK(ball.load() == T(i + 2));
  }
}

static void test_atomic_flag(int waiters) {
  std::atomic_flag open;
  std::atomic<int> passed = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < waiters; i++) {
    threads.emplace_back([&] {
      open.wait(false);
      passed++;
    });
  }
  open.test_and_set();
  open.notify_all();
  threads.clear();
  CHECK(passed == waiters);
}

static void test_stop_token() {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::atomic<int> callbacks = 0;
  bool stopped = false;
  std::jthread worker([&](std::stop_token stop) {
    std::stop_callback on_stop(stop, [&] { callbacks++; });
    std::unique_lock lock(mutex);
    CHECK(!changed.wait(lock, stop, [] { return false; }));
    CHECK(stop.stop_requested());
    stopped = true;
  });
  CHECK(worker.request_stop());
  CHECK(!worker.request_stop());
  worker.join();
  CHECK(stopped);
  CHECK(callbacks <= 1);  // none if the worker has taken it back before it was called
  {
    std::jthread spinner([](std::stop_token stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
    });
  }  // its destructor asks it to stop and joins it
}

static void test_futures() {
  auto square = [](int x) { return x * x; };
  std::vector<std::future<int>> results;
  for (int i = 0; i < 4; i++) results.push_back(std::async(std::launch::async, square, i));
  int sum = 0;
  for (std::future<int>& result : results) sum += result.get();
  CHECK(sum == 14);
  std::future<int> lazy = std::async(std::launch::deferred, square, 5);
  CHECK(lazy.wait_for(0s) == std::future_status::deferred);
  CHECK(lazy.get() == 25);

  std::promise<int> promise;
  std::shared_future<int> shared = promise.get_future().share();
  CHECK(shared.wait_for(1ms) == std::future_status::timeout);
  std::jthread first([shared] { CHECK(shared.get() == 8); });
  std::jthread second([shared] { CHECK(shared.get() == 8); });
  promise.set_value(8);

  std::packaged_task<int(int)> task(square);
  std::future<int> packaged = task.get_future();
  std::jthread runner(std::move(task), 6);
  CHECK(packaged.get() == 36);

  std::future<int> orphan;
  {
    std::promise<int> broken;
    orphan = broken.get_future();
  }
  try {
    orphan.get();
    CHECK(!"not reached");
  } catch (const std::future_error& error) {
    CHECK(error.code() == std::future_errc::broken_promise);
  }
}

static void test_call_once(int callers) {
  std::once_flag once;
  int calls = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < callers; i++) {
    threads.emplace_back([&] {
      std::call_once(once, [&] { calls++; });
      CHECK(calls == 1);
    });
  }
}

static std::atomic<int> guarded_constructions = 0;

struct Guarded {
  Guarded() {
    if (guarded_constructions++ == 0) throw std::runtime_error("first construction");
    value = 17;
  }
  int value;
};

static Guarded& guarded() {
  static Guarded instance;
  return instance;
}

static void test_static_guard(int callers) {
  std::atomic<int> caught = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < callers; i++) {
    threads.emplace_back([&] {
      try {
        CHECK(guarded().value == 17);
      } catch (const std::runtime_error&) {
        caught++;
      }
    });
  }
  threads.clear();
  CHECK(guarded_constructions == 2 && caught == 1);
}

int main(int argc, char** argv) {
  int scale = argc > 1 ? std::atoi(argv[1]) : 4;
  test_latch(scale);
  test_barrier(scale, 5);
  test_semaphore(scale);
  test_atomic_wait<int>(scale);
  test_atomic_wait<unsigned char>(scale);
  test_atomic_wait<long>(scale);
  test_atomic_flag(scale);
  test_stop_token();
  test_futures();
  test_call_once(scale + 2);
  test_static_guard(scale + 2);
  std::puts("ok");
}
