// <future>: std::promise, std::future, std::shared_future.
#include <future>
#include <string>
#include <vector>

#include "cxx_help.h"

namespace {

using std::future_errc;

CASE(std_promise, value) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  EXPECT(future.valid());
  EXPECT(future.wait_for(0s) == std::future_status::timeout);
  std::thread thread([&] { promise.set_value(7); });
  future.wait();
  EXPECT(future.wait_for(0s) == std::future_status::ready);
  EXPECT_EQ(future.get(), 7);
  EXPECT(!future.valid());
  thread.join();
}

CASE(std_promise, reference_void_and_move_only) {
  int value = 1;
  std::promise<int&> reference;
  reference.set_value(value);
  EXPECT(&reference.get_future().get() == &value);
  std::promise<void> nothing;
  nothing.set_value();
  nothing.get_future().get();
  std::promise<std::unique_ptr<int>> owner;
  owner.set_value(std::make_unique<int>(3));
  EXPECT_EQ(*owner.get_future().get(), 3);
}

CASE(std_promise, exception) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread thread(
      [&] { promise.set_exception(std::make_exception_ptr(std::string("failed"))); });
  std::string seen;
  try {
    (void)future.get();
  } catch (const std::string& text) {
    seen = text;
  }
  EXPECT(seen == "failed");
  EXPECT(!future.valid());
  thread.join();
}

CASE(std_promise, already_satisfied) {
  std::promise<int> promise;
  promise.set_value(1);
  EXPECT(
      throws_future_error(future_errc::promise_already_satisfied, [&] { promise.set_value(2); }));
  EXPECT(throws_future_error(future_errc::promise_already_satisfied,
                             [&] { promise.set_exception(std::make_exception_ptr(1)); }));
  EXPECT(throws_future_error(future_errc::promise_already_satisfied,
                             [&] { promise.set_value_at_thread_exit(2); }));
  EXPECT_EQ(promise.get_future().get(), 1);
}

CASE(std_promise, future_already_retrieved) {
  std::promise<int> promise;
  (void)promise.get_future();
  EXPECT(throws_future_error(future_errc::future_already_retrieved,
                             [&] { (void)promise.get_future(); }));
}

CASE(std_promise, no_state) {
  std::promise<int> promise;
  std::promise<int> moved(std::move(promise));
  EXPECT(throws_future_error(future_errc::no_state, [&] { (void)promise.get_future(); }));
  EXPECT(throws_future_error(future_errc::no_state, [&] { promise.set_value(1); }));
  promise.swap(moved);
  EXPECT(throws_future_error(future_errc::no_state, [&] { moved.set_value(1); }));
  promise.set_value(1);
}

CASE(std_promise, broken) {
  std::future<int> future;
  {
    future = std::promise<int>().get_future();
  }
  EXPECT(future.valid());
  EXPECT(throws_future_error(future_errc::broken_promise, [&] { (void)future.get(); }));
  std::promise<int> first;
  std::future<int> of_first = first.get_future();
  first = std::promise<int>();
  EXPECT(throws_future_error(future_errc::broken_promise, [&] { (void)of_first.get(); }));
}

int* destroyed;
struct Noted {
  ~Noted() { *destroyed = 1; }
  void touch() {}
};
thread_local Noted of_thread;

CASE(std_promise, set_at_thread_exit) {
  int flag = 0;
  destroyed = &flag;
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread thread([&] {
    of_thread.touch();
    promise.set_value_at_thread_exit(5);
    EXPECT(
        throws_future_error(future_errc::promise_already_satisfied, [&] { promise.set_value(1); }));
    EXPECT(future.wait_for(0s) == std::future_status::timeout);
  });
  EXPECT_EQ(future.get(), 5);
  EXPECT_EQ(flag, 1);  // the thread_local objects were destroyed first
  thread.join();
  std::promise<void> failing;
  std::thread([&] { failing.set_exception_at_thread_exit(std::make_exception_ptr(6)); }).join();
  int seen = 0;
  try {
    failing.get_future().get();
  } catch (int number) {
    seen = number;
  }
  EXPECT_EQ(seen, 6);
}

CASE(std_future, no_state) {
  std::future<int> none;
  EXPECT(!none.valid());
  EXPECT(throws_future_error(future_errc::no_state, [&] { (void)none.get(); }));
  EXPECT(throws_future_error(future_errc::no_state, [&] { none.wait(); }));
  EXPECT(throws_future_error(future_errc::no_state, [&] { (void)none.wait_for(0s); }));
  EXPECT(throws_future_error(future_errc::no_state, [&] { (void)none.share().get(); }));
}

CASE(std_future, waits_with_times) {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  EXPECT(future.wait_for(kShort) == std::future_status::timeout);
  auto until = std::chrono::steady_clock::now() + kShort;
  EXPECT(future.wait_until(until) == std::future_status::timeout);
  EXPECT(std::chrono::steady_clock::now() >= until);
  EXPECT(future.wait_until(std::chrono::system_clock::now() + kShort) ==
         std::future_status::timeout);
  std::thread thread([&] { promise.set_value(); });
  EXPECT(future.wait_for(kLong) == std::future_status::ready);
  EXPECT(future.wait_until(until) == std::future_status::ready);
  thread.join();
}

CASE(std_future, moves) {
  std::promise<int> promise;
  std::future<int> first = promise.get_future();
  std::future<int> second = std::move(first);
  EXPECT(!first.valid() && second.valid());
  first = std::move(second);
  promise.set_value(2);
  EXPECT_EQ(first.get(), 2);
}

CASE(std_shared_future, many_readers) {
  std::promise<std::string> promise;
  std::shared_future<std::string> future = promise.get_future().share();
  std::vector<std::thread> threads;
  int good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&good, future] {
      if (future.get() == "value") __atomic_add_fetch(&good, 1, __ATOMIC_SEQ_CST);
    });
  promise.set_value("value");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
  EXPECT(future.valid());
  EXPECT(future.get() == "value");
}

CASE(std_shared_future, from_future_and_copies) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::shared_future<int> shared(std::move(future));
  EXPECT(!future.valid() && shared.valid());
  std::shared_future<int> copy = shared;
  EXPECT(copy.wait_for(kShort) == std::future_status::timeout);
  EXPECT(copy.wait_until(std::chrono::steady_clock::now()) == std::future_status::timeout);
  promise.set_value(3);
  copy.wait();
  EXPECT(&copy.get() == &shared.get());
  std::shared_future<int> moved = std::move(copy);
  EXPECT(!copy.valid());
  EXPECT(throws_future_error(future_errc::no_state, [&] { (void)copy.get(); }));
  EXPECT_EQ(moved.get(), 3);
}

CASE(std_shared_future, exception_for_all) {
  std::promise<void> promise;
  std::shared_future<void> future = promise.get_future().share();
  promise.set_exception(std::make_exception_ptr(4));
  int caught = 0;
  for (int i = 0; i < 2; ++i) {
    try {
      future.get();
    } catch (int number) {
      caught += number;
    }
  }
  EXPECT_EQ(caught, 8);
}

CASE(std_future_error, category_and_message) {
  std::error_code code = std::make_error_code(future_errc::broken_promise);
  EXPECT(code.category() == std::future_category());
  EXPECT(!code.message().empty());
  EXPECT(std::make_error_condition(future_errc::no_state) == future_errc::no_state);
  std::future_error error(future_errc::no_state);
  EXPECT(error.code() == future_errc::no_state);
}

}  // namespace
