// <latch>, <barrier>, <semaphore>.
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#include <vector>

#include "cxx_help.h"

namespace {

constexpr int kThreads = 4;

template <typename Body>
void run_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

CASE(std_latch, counts_down) {
  std::latch latch(3);
  EXPECT(!latch.try_wait());
  latch.count_down();
  latch.count_down(0);
  EXPECT(!latch.try_wait());
  latch.count_down(2);
  EXPECT(latch.try_wait());
  latch.wait();
  std::latch none(0);
  EXPECT(none.try_wait());
  EXPECT(std::latch::max() >= 1000);
}

CASE(std_latch, releases_all_waiters) {
  std::latch start(1);
  std::latch done(kThreads);
  std::atomic<int> released = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      start.wait();
      ++released;
      done.count_down();
    });
  nap();
  EXPECT_EQ(released, 0);
  start.count_down();
  done.wait();
  EXPECT_EQ(released, kThreads);
  for (std::thread& thread : threads) thread.join();
}

CASE(std_latch, arrive_and_wait) {
  std::latch latch(kThreads);
  std::atomic<int> arrived = 0;
  run_threads(kThreads, [&](int) {
    ++arrived;
    latch.arrive_and_wait();
    EXPECT_EQ(arrived, kThreads);
  });
}

CASE(std_barrier, phases) {
  std::barrier barrier(kThreads);
  std::atomic<int> arrived = 0;
  run_threads(kThreads, [&](int) {
    for (int phase = 1; phase <= 5; ++phase) {
      ++arrived;
      barrier.arrive_and_wait();
      EXPECT_EQ(arrived, phase * kThreads);
      barrier.arrive_and_wait();
    }
  });
  EXPECT(decltype(barrier)::max() >= 1000);
}

CASE(std_barrier, completion_function) {
  int value = 0;  // written by the completion only, while all wait
  int completions = 0;
  auto complete = [&]() noexcept {
    ++completions;
    value = completions * 10;
  };
  std::barrier barrier(kThreads, complete);
  run_threads(kThreads, [&](int) {
    for (int phase = 1; phase <= 4; phase += 2) {
      barrier.arrive_and_wait();
      EXPECT_EQ(value, phase * 10);
      barrier.arrive_and_wait();
    }
  });
  EXPECT_EQ(completions, 4);
}

CASE(std_barrier, arrive_and_wait_for_token) {
  std::barrier barrier(2);
  std::atomic<int> before = 0;
  run_threads(2, [&](int) {
    ++before;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    EXPECT_EQ(before, 2);
  });
  std::barrier alone(3);
  (void)alone.arrive(2);
  alone.arrive_and_wait();
}

CASE(std_barrier, arrive_and_drop) {
  std::barrier barrier(3);
  std::atomic<int> rounds = 0;
  run_threads(3, [&](int i) {
    if (i == 0) {
      barrier.arrive_and_drop();
      return;
    }
    for (int round = 0; round < 3; ++round) barrier.arrive_and_wait();
    ++rounds;
  });
  EXPECT_EQ(rounds, 2);
}

CASE(std_counting_semaphore, counts) {
  std::counting_semaphore<5> semaphore(2);
  EXPECT((std::counting_semaphore<5>::max() >= 5));
  semaphore.acquire();
  EXPECT(semaphore.try_acquire());
  EXPECT(!semaphore.try_acquire());
  semaphore.release(3);
  for (int i = 0; i < 3; ++i) EXPECT(semaphore.try_acquire());
  EXPECT(!semaphore.try_acquire());
}

CASE(std_counting_semaphore, releases_waiters) {
  std::counting_semaphore<> semaphore(0);
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      semaphore.acquire();
      ++passed;
    });
  nap();
  EXPECT_EQ(passed, 0);
  semaphore.release(kThreads);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed, kThreads);
}

CASE(std_counting_semaphore, bounds_how_many) {
  std::counting_semaphore<2> semaphore(2);
  std::atomic<int> inside = 0;
  std::atomic<bool> too_many = false;
  run_threads(kThreads, [&](int) {
    for (int i = 0; i < 20; ++i) {
      semaphore.acquire();
      if (++inside > 2) too_many = true;
      --inside;
      semaphore.release();
    }
  });
  EXPECT(!too_many);
}

CASE(std_binary_semaphore, hand_over) {
  std::binary_semaphore ping(0), pong(0);
  EXPECT(std::binary_semaphore::max() >= 1);
  int value = 0;
  std::thread thread([&] {
    for (int i = 0; i < 10; ++i) {
      ping.acquire();
      ++value;
      pong.release();
    }
  });
  for (int i = 0; i < 10; ++i) {
    ping.release();
    pong.acquire();
    EXPECT_EQ(value, i + 1);
  }
  thread.join();
}

CASE(std_counting_semaphore, times) {
  std::counting_semaphore<> semaphore(0);
  EXPECT(!semaphore.try_acquire_for(kShort));
  auto until = std::chrono::steady_clock::now() + kShort;
  EXPECT(!semaphore.try_acquire_until(until));
  EXPECT(std::chrono::steady_clock::now() >= until);
  auto system = std::chrono::system_clock::now() + kShort;
  EXPECT(!semaphore.try_acquire_until(system));
  EXPECT(std::chrono::system_clock::now() >= system);
  std::thread thread([&] { semaphore.release(); });
  EXPECT(semaphore.try_acquire_for(kLong));
  thread.join();
  semaphore.release();
  EXPECT(semaphore.try_acquire_until(std::chrono::steady_clock::now() + kLong));
}

}  // namespace
