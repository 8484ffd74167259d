// <stop_token>: std::stop_source, std::stop_token, std::stop_callback.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "cxx_help.h"

namespace {

CASE(std_stop_source, states) {
  std::stop_source source;
  EXPECT(source.stop_possible());
  EXPECT(!source.stop_requested());
  EXPECT(source.request_stop());
  EXPECT(source.stop_requested());
  EXPECT(!source.request_stop());
  std::stop_source none(std::nostopstate);
  EXPECT(!none.stop_possible());
  EXPECT(!none.request_stop());
  EXPECT(!none.stop_requested());
}

CASE(std_stop_source, copies_share_the_state) {
  std::stop_source first;
  std::stop_source second = first;
  std::stop_source other;
  EXPECT(first == second);
  EXPECT(first != other);
  EXPECT(second.request_stop());
  EXPECT(first.stop_requested());
  EXPECT(!other.stop_requested());
  first.swap(other);
  EXPECT(!first.stop_requested());
}

CASE(std_stop_token, states) {
  std::stop_token none;
  EXPECT(!none.stop_possible());
  EXPECT(!none.stop_requested());
  std::optional<std::stop_source> source(std::in_place);
  std::stop_token token = source->get_token();
  EXPECT(token.stop_possible());
  EXPECT(!token.stop_requested());
  EXPECT(token == source->get_token());
  EXPECT(token != none);
  source.reset();
  EXPECT(!token.stop_possible());  // nobody can request a stop any more
  std::stop_token stopped;
  {
    std::stop_source asked;
    stopped = asked.get_token();
    asked.request_stop();
  }
  EXPECT(stopped.stop_possible());
  EXPECT(stopped.stop_requested());
}

CASE(std_stop_callback, runs_in_request_stop) {
  std::stop_source source;
  std::thread::id ran_in;
  int ran = 0;
  std::stop_callback first(source.get_token(), [&] {
    ++ran;
    ran_in = std::this_thread::get_id();
  });
  std::stop_callback second(source.get_token(), [&] { ++ran; });
  EXPECT_EQ(ran, 0);
  std::thread::id asker;
  std::thread([&] {
    asker = std::this_thread::get_id();
    source.request_stop();
  }).join();
  EXPECT_EQ(ran, 2);
  EXPECT(ran_in == asker);
}

CASE(std_stop_callback, at_once_when_already_stopped) {
  std::stop_source source;
  source.request_stop();
  int ran = 0;
  std::stop_callback callback(source.get_token(), [&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

CASE(std_stop_callback, deregistered_when_destroyed) {
  std::stop_source source;
  int ran = 0;
  {
    std::stop_callback callback(source.get_token(), [&] { ++ran; });
  }
  source.request_stop();
  EXPECT_EQ(ran, 0);
}

CASE(std_stop_callback, never_without_state) {
  int ran = 0;
  std::stop_callback callback(std::stop_token(), [&] { ++ran; });
  EXPECT_EQ(ran, 0);
}

// The destructor waits for a callback that runs in another thread.
CASE(std_stop_callback, destructor_waits) {
  std::stop_source source;
  std::promise<void> entered;
  bool ended = false;
  auto body = [&] {
    entered.set_value();
    nap();
    ended = true;
  };
  auto callback = std::make_unique<std::stop_callback<decltype(body)>>(source.get_token(), body);
  std::thread asker([&] { source.request_stop(); });
  entered.get_future().wait();
  callback.reset();
  EXPECT(ended);
  asker.join();
}

// From within the callback the destructor does not wait.
CASE(std_stop_callback, destroyed_by_itself) {
  struct Destroy {
    std::unique_ptr<std::stop_callback<Destroy>>& owner;
    void operator()() const { owner.reset(); }
  };
  std::stop_source source;
  std::unique_ptr<std::stop_callback<Destroy>> callback;
  callback = std::make_unique<std::stop_callback<Destroy>>(source.get_token(), Destroy{callback});
  EXPECT(source.request_stop());
  EXPECT(callback == nullptr);
}

CASE(std_stop_source, one_of_many_askers_wins) {
  std::stop_source source;
  int ran = 0;
  std::stop_callback callback(source.get_token(), [&] { ++ran; });
  std::vector<std::thread> threads;
  int winners = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      if (source.request_stop()) __atomic_add_fetch(&winners, 1, __ATOMIC_SEQ_CST);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(ran, 1);
}

CASE(std_condition_variable_any, wait_with_stop_token) {
  std::mutex mutex;
  std::condition_variable_any condition;
  bool ready = false;
  bool result = true;
  std::jthread thread([&](std::stop_token token) {
    std::unique_lock lock(mutex);
    result = condition.wait(lock, token, [&] { return ready; });
    EXPECT(lock.owns_lock());
  });
  nap();
  thread.request_stop();
  thread.join();
  EXPECT(!result);
  thread = std::jthread([&](std::stop_token token) {
    std::unique_lock lock(mutex);
    result = condition.wait(lock, token, [&] { return ready; });
  });
  {
    std::lock_guard lock(mutex);
    ready = true;
  }
  condition.notify_all();
  thread.join();
  EXPECT(result);
}

CASE(std_condition_variable_any, timed_wait_with_stop_token) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::stop_source source;
  std::unique_lock lock(mutex);
  EXPECT(!condition.wait_for(lock, source.get_token(), kShort, [] { return false; }));
  auto until = std::chrono::steady_clock::now() + kShort;
  EXPECT(!condition.wait_until(lock, source.get_token(), until, [] { return false; }));
  EXPECT(std::chrono::steady_clock::now() >= until);
  EXPECT(condition.wait_for(lock, source.get_token(), kLong, [] { return true; }));
  std::thread asker([&] {
    nap();
    source.request_stop();
  });
  EXPECT(!condition.wait_for(lock, source.get_token(), kLong, [] { return false; }));
  lock.unlock();
  asker.join();
}

}  // namespace
