// <future>: std::async and std::packaged_task.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cxx_help.h"

namespace {

using std::future_errc;

CASE(std_async, policy_async) {
  std::thread::id other;
  std::future<int> future = std::async(
      std::launch::async,
      [&](int a, int b) {
        other = std::this_thread::get_id();
        return a + b;
      },
      2, 3);
  EXPECT(future.wait_for(kLong) == std::future_status::ready);
  EXPECT_EQ(future.get(), 5);
  EXPECT(other != std::this_thread::get_id());
}

CASE(std_async, policy_deferred) {
  std::thread::id ran_in;
  std::future<void> future =
      std::async(std::launch::deferred, [&] { ran_in = std::this_thread::get_id(); });
  EXPECT(future.wait_for(kShort) == std::future_status::deferred);
  EXPECT(future.wait_until(std::chrono::steady_clock::now()) == std::future_status::deferred);
  EXPECT(ran_in == std::thread::id());
  future.get();
  EXPECT(ran_in == std::this_thread::get_id());
}

CASE(std_async, deferred_may_never_run) {
  bool ran = false;
  {
    auto future = std::async(std::launch::deferred, [&] { ran = true; });
  }
  EXPECT(!ran);
}

CASE(std_async, deferred_shared_runs_once) {
  std::atomic<int> ran = 0;
  std::shared_future<int> future = std::async(std::launch::deferred, [&] { return ++ran; }).share();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([future] { EXPECT_EQ(future.get(), 1); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 1);
}

CASE(std_async, default_policy) {
  std::future<std::string> future = std::async([] { return std::string("result"); });
  EXPECT(future.get() == "result");
}

CASE(std_async, exception) {
  for (std::launch policy : {std::launch::async, std::launch::deferred}) {
    std::future<int> future = std::async(policy, []() -> int { throw 9; });
    int caught = 0;
    try {
      (void)future.get();
    } catch (int number) {
      caught = number;
    }
    EXPECT_EQ(caught, 9);
  }
}

// The future of an asynchronous call waits when it is destroyed.
CASE(std_async, destructor_waits) {
  bool ended = false;
  {
    auto future = std::async(std::launch::async, [&] {
      nap();
      ended = true;
    });
  }
  EXPECT(ended);
}

CASE(std_async, many) {
  std::vector<std::future<int>> futures;
  for (int i = 0; i < 10; ++i)
    futures.push_back(std::async(std::launch::async, [i] { return i * i; }));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(futures[i].get(), i * i);
}

CASE(std_packaged_task, runs_in_a_thread) {
  std::packaged_task<int(int)> task([](int value) { return value * 2; });
  EXPECT(task.valid());
  std::future<int> future = task.get_future();
  std::thread thread(std::move(task), 21);
  EXPECT(!task.valid());
  EXPECT_EQ(future.get(), 42);
  thread.join();
}

CASE(std_packaged_task, exception) {
  std::packaged_task<void()> task([] { throw 5; });
  std::future<void> future = task.get_future();
  task();
  int caught = 0;
  try {
    future.get();
  } catch (int number) {
    caught = number;
  }
  EXPECT_EQ(caught, 5);
}

CASE(std_packaged_task, errors) {
  std::packaged_task<int()> none;
  EXPECT(!none.valid());
  EXPECT(throws_future_error(future_errc::no_state, [&] { none(); }));
  EXPECT(throws_future_error(future_errc::no_state, [&] { (void)none.get_future(); }));
  EXPECT(throws_future_error(future_errc::no_state, [&] { none.reset(); }));
  std::packaged_task<int()> task([] { return 1; });
  (void)task.get_future();
  EXPECT(
      throws_future_error(future_errc::future_already_retrieved, [&] { (void)task.get_future(); }));
  task();
  EXPECT(throws_future_error(future_errc::promise_already_satisfied, [&] { task(); }));
}

CASE(std_packaged_task, reset_and_swap) {
  int runs = 0;
  std::packaged_task<int()> task([&] { return ++runs; });
  std::future<int> first = task.get_future();
  task();
  task.reset();
  std::future<int> second = task.get_future();
  std::packaged_task<int()> other;
  other.swap(task);
  other();
  EXPECT_EQ(first.get(), 1);
  EXPECT_EQ(second.get(), 2);
}

CASE(std_packaged_task, broken_promise) {
  std::future<int> future;
  {
    std::packaged_task<int()> task([] { return 1; });
    future = task.get_future();
  }
  EXPECT(throws_future_error(future_errc::broken_promise, [&] { (void)future.get(); }));
}

CASE(std_packaged_task, make_ready_at_thread_exit) {
  std::packaged_task<int()> task([] { return 3; });
  std::future<int> future = task.get_future();
  std::thread thread([&] {
    task.make_ready_at_thread_exit();
    EXPECT(future.wait_for(0s) == std::future_status::timeout);
    EXPECT(throws_future_error(future_errc::promise_already_satisfied,
                               [&] { task.make_ready_at_thread_exit(); }));
  });
  EXPECT_EQ(future.get(), 3);
  thread.join();
}

}  // namespace
