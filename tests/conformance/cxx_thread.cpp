// <thread>: std::thread, std::jthread, std::this_thread.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "cxx_help.h"

namespace {

CASE(std_thread, default_constructed) {
  std::thread thread;
  EXPECT(!thread.joinable());
  EXPECT(thread.get_id() == std::thread::id());
}

CASE(std_thread, arguments_are_copied_or_moved) {
  int by_reference = 0;
  std::string text = "text";
  auto owned = std::make_unique<int>(7);
  std::thread thread(
      [](int& reference, std::string copy, std::unique_ptr<int> moved) {
        copy += "!";
        reference = *moved;
      },
      std::ref(by_reference), text, std::move(owned));
  thread.join();
  EXPECT_EQ(by_reference, 7);
  EXPECT(text == "text");
  EXPECT(owned == nullptr);
}

CASE(std_thread, member_function) {
  struct Counter {
    void add(int amount) { value += amount; }
    int value = 0;
  } counter;
  std::thread(&Counter::add, &counter, 3).join();
  EXPECT_EQ(counter.value, 3);
}

CASE(std_thread, moves) {
  std::thread first([] {});
  std::thread::id id = first.get_id();
  std::thread second(std::move(first));
  EXPECT(!first.joinable());
  EXPECT(second.get_id() == id);
  first = std::move(second);
  EXPECT(first.joinable());
  std::thread third;
  third.swap(first);
  EXPECT(third.get_id() == id);
  std::swap(third, first);
  first.join();
  EXPECT(!first.joinable());
}

CASE(std_thread, join_einval_not_joinable) {
  std::thread thread;
  EXPECT(throws_error(std::errc::invalid_argument, [&] { thread.join(); }));
  EXPECT(throws_error(std::errc::invalid_argument, [&] { thread.detach(); }));
  thread = std::thread([] {});
  thread.join();
  EXPECT(throws_error(std::errc::invalid_argument, [&] { thread.join(); }));
}

CASE(std_thread, join_edeadlk_self) {
  std::promise<void> go;
  std::atomic<bool> told = false;
  std::thread thread;
  thread = std::thread([&] {
    go.get_future().wait();
    told = throws_error(std::errc::resource_deadlock_would_occur, [&] { thread.join(); });
  });
  go.set_value();
  while (!told) nap();
  thread.join();
  EXPECT(told);
}

CASE(std_thread, detach) {
  std::promise<int> result;
  std::thread thread([&] { result.set_value_at_thread_exit(4); });
  thread.detach();
  EXPECT(!thread.joinable());
  EXPECT_EQ(result.get_future().get(), 4);
}

CASE(std_thread, ids) {
  std::thread::id main_id = std::this_thread::get_id();
  std::thread::id seen;
  std::thread thread([&] { seen = std::this_thread::get_id(); });
  std::thread::id id = thread.get_id();
  thread.join();
  EXPECT(seen == id);
  EXPECT(id != main_id);
  EXPECT((id < main_id) != (main_id < id));
  EXPECT((id <=> id) == 0);
  std::unordered_set<std::thread::id> set{id, main_id, id};
  EXPECT_EQ(set.size(), 2);
  std::ostringstream text;
  text << id;
  EXPECT(!text.str().empty());
}

CASE(std_thread, native_handle) {
  std::promise<void> end;
  std::thread thread([future = end.get_future()] { future.wait(); });
  EXPECT_EQ(pthread_kill(thread.native_handle(), 0), 0);
  end.set_value();
  thread.join();
}

CASE(std_thread, hardware_concurrency) { EXPECT(std::thread::hardware_concurrency() >= 1); }

CASE(std_thread, many) {
  std::vector<std::thread> threads;
  std::vector<int> values(20);
  for (int i = 0; i < 20; ++i) threads.emplace_back([&values, i] { values[i] = i; });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(values[i], i);
}

// The exit status of a child that runs `function`: 33 if that leads to std::terminate.
template <typename Function>
int status_of(Function function) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    std::set_terminate([] { _exit(33); });
    function();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

CASE(std_thread, terminate_when_destroyed_joinable) {
  EXPECT_EQ(status_of([] { std::thread thread([] {}); }), 33);
}

CASE(std_thread, terminate_when_exception_escapes) {
  EXPECT_EQ(status_of([] { std::thread([] { throw 1; }).join(); }), 33);
}

CASE(std_this_thread, sleeps) {
  auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(3ms);
  EXPECT(std::chrono::steady_clock::now() - before >= 3ms);
  auto until = std::chrono::steady_clock::now() + 3ms;
  std::this_thread::sleep_until(until);
  EXPECT(std::chrono::steady_clock::now() >= until);
  auto system_until = std::chrono::system_clock::now() + 3ms;
  std::this_thread::sleep_until(system_until);
  EXPECT(std::chrono::system_clock::now() >= system_until);
  std::this_thread::sleep_for(-1s);
  std::this_thread::sleep_until(before);
}

CASE(std_this_thread, yields) { std::this_thread::yield(); }

CASE(std_jthread, joins_when_destroyed) {
  int value = 0;
  {
    std::jthread thread([&] {
      nap();
      value = 1;
    });
    EXPECT(thread.joinable());
  }
  EXPECT_EQ(value, 1);
}

CASE(std_jthread, stops_when_destroyed) {
  bool stopped = false;
  {
    std::jthread thread([&](std::stop_token token) {
      while (!token.stop_requested()) std::this_thread::sleep_for(1ms);
      stopped = true;
    });
  }
  EXPECT(stopped);
}

CASE(std_jthread, request_stop) {
  std::jthread thread(
      [](std::stop_token token, int) {
        while (!token.stop_requested()) std::this_thread::sleep_for(1ms);
      },
      5);
  EXPECT(!thread.get_stop_token().stop_requested());
  EXPECT(thread.get_stop_source().stop_possible());
  EXPECT(thread.request_stop());
  EXPECT(!thread.request_stop());
  EXPECT(thread.get_stop_token().stop_requested());
  thread.join();
  EXPECT(!thread.joinable());
}

CASE(std_jthread, move_assignment_stops_and_joins) {
  int ended = 0;
  std::jthread thread([&](std::stop_token token) {
    while (!token.stop_requested()) std::this_thread::sleep_for(1ms);
    ++ended;
  });
  thread = std::jthread([&] { nap(); });
  EXPECT_EQ(ended, 1);
  std::jthread other;
  other.swap(thread);
  EXPECT(!thread.joinable());
  EXPECT(other.get_id() != std::jthread::id());
}

CASE(std_jthread, errors_and_detach) {
  std::jthread thread;
  EXPECT(!thread.joinable());
  EXPECT(!thread.request_stop());
  EXPECT(throws_error(std::errc::invalid_argument, [&] { thread.join(); }));
  std::promise<void> done;
  thread = std::jthread([&] { done.set_value(); });
  thread.detach();
  done.get_future().wait();
  EXPECT(throws_error(std::errc::invalid_argument, [&] { thread.detach(); }));
}

int destroyed;
struct Noted {
  ~Noted() { ++destroyed; }
  int value = 0;
};
thread_local Noted of_thread;

CASE(thread_local_storage, of_each_thread) {
  destroyed = 0;
  of_thread.value = 1;
  std::thread([] {
    EXPECT_EQ(of_thread.value, 0);
    of_thread.value = 2;
  }).join();
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(of_thread.value, 1);
}

CASE(exception_ptr, crosses_threads) {
  std::exception_ptr error;
  std::thread([&] {
    try {
      throw std::string("from the thread");
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  std::string seen;
  try {
    std::rethrow_exception(error);
  } catch (const std::string& text) {
    seen = text;
  }
  EXPECT(seen == "from the thread");
}

}  // namespace
