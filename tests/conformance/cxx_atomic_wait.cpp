// wait and notify of std::atomic, std::atomic_flag, std::atomic_ref and atomic shared pointers.
#include <atomic>
#include <memory>
#include <vector>

#include "cxx_help.h"

namespace {

template <typename Value>
void expect_hand_over() {
  std::atomic<Value> turn(Value(0));
  auto play = [&](int me) {
    for (int i = me; i < 20; i += 2) {
      for (Value seen = turn; seen != Value(i); seen = turn) turn.wait(seen);
      turn = Value(i + 1);
      turn.notify_all();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT(turn == Value(20));
}

CASE(std_atomic_wait, hand_over_int) { expect_hand_over<int>(); }
CASE(std_atomic_wait, hand_over_char) { expect_hand_over<char>(); }
CASE(std_atomic_wait, hand_over_long) { expect_hand_over<long>(); }
CASE(std_atomic_wait, hand_over_short) { expect_hand_over<short>(); }

CASE(std_atomic_wait, returns_when_different) {
  std::atomic<int> value = 1;
  value.wait(0);
  std::atomic_wait(&value, 2);
  std::atomic_wait_explicit(&value, 3, std::memory_order_acquire);
}

// A notification without a change wakes nobody for good.
CASE(std_atomic_wait, waits_for_a_change) {
  std::atomic<int> value = 0;
  std::atomic<bool> passed = false;
  std::thread thread([&] {
    value.wait(0);
    passed = true;
  });
  nap();
  value.notify_all();
  nap();
  EXPECT(!passed);
  value = 1;
  value.notify_one();
  thread.join();
  EXPECT(passed);
}

CASE(std_atomic_notify_one, one_after_the_other) {
  std::atomic<int> tickets = 0;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (;;) {
        int seen = tickets;
        if (seen > 0 && tickets.compare_exchange_strong(seen, seen - 1)) break;
        if (seen == 0) tickets.wait(0);
      }
      ++taken;
    });
  for (int i = 0; i < 3; ++i) {
    ++tickets;
    tickets.notify_one();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(tickets, 0);
}

CASE(std_atomic_notify_all, wakes_all) {
  std::atomic<int> value = 0;
  std::atomic<int> woken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      value.wait(0);
      ++woken;
    });
  nap();
  EXPECT_EQ(woken, 0);
  value = 1;
  std::atomic_notify_all(&value);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, 4);
}

CASE(std_atomic_wait, pointer_and_bool) {
  int object = 0;
  std::atomic<int*> pointer = nullptr;
  std::atomic<bool> flag = false;
  std::thread thread([&] {
    pointer.wait(nullptr);
    *pointer.load() = 1;
    flag = true;
    flag.notify_one();
  });
  pointer = &object;
  pointer.notify_one();
  flag.wait(false);
  EXPECT_EQ(object, 1);
  thread.join();
}

// Not the size of a futex word.
struct Small {
  unsigned char a, b;
};

CASE(std_atomic_wait, structures) {
  std::atomic<Small> value(Small{0, 0});
  std::thread thread([&] {
    value.store(Small{1, 2});
    value.notify_all();
  });
  value.wait(Small{0, 0});
  EXPECT_EQ(value.load().b, 2);
  thread.join();
}

CASE(std_atomic_flag, wait_and_notify) {
  std::atomic_flag ping;
  std::atomic_flag pong;
  int rounds = 0;
  std::thread thread([&] {
    for (int i = 0; i < 5; ++i) {
      ping.wait(false);
      ping.clear();
      ++rounds;
      pong.test_and_set();
      pong.notify_one();
    }
  });
  for (int i = 0; i < 5; ++i) {
    ping.test_and_set();
    ping.notify_one();
    pong.wait(false);
    pong.clear();
    EXPECT_EQ(rounds, i + 1);
  }
  thread.join();
  ping.test_and_set();
  ping.wait(false);
  ping.notify_all();
}

CASE(std_atomic_ref, wait_and_notify) {
  int plain = 0;
  std::thread thread([&] {
    std::atomic_ref<int> reference(plain);
    reference.store(1);
    reference.notify_all();
  });
  std::atomic_ref<int> reference(plain);
  reference.wait(0);
  EXPECT_EQ(reference.load(), 1);
  thread.join();
}

CASE(std_atomic_shared_ptr, wait_and_notify) {
  std::atomic<std::shared_ptr<int>> pointer;
  std::thread thread([&] {
    pointer.store(std::make_shared<int>(3));
    pointer.notify_one();
  });
  pointer.wait(nullptr);
  EXPECT_EQ(*pointer.load(), 3);
  thread.join();
}

}  // namespace
