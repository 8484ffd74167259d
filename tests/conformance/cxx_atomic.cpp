// <atomic>: operations, orders, fences, flags, atomic_ref, atomic pointers of shared objects.
#include <atomic>
#include <memory>
#include <vector>

#include "cxx_help.h"

namespace {

template <typename Body>
void run_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

CASE(std_atomic, load_store_exchange) {
  std::atomic<int> value(1);
  EXPECT_EQ(value.load(), 1);
  value.store(2, std::memory_order_release);
  EXPECT_EQ(value.load(std::memory_order_acquire), 2);
  EXPECT_EQ(value.exchange(3), 2);
  value = 4;
  EXPECT_EQ(value, 4);
  EXPECT(std::atomic<int>::is_always_lock_free);
  EXPECT(value.is_lock_free());
  EXPECT_EQ(std::atomic<int>().load(), 0);  // C++20: value-initialised
}

CASE(std_atomic, compare_exchange) {
  std::atomic<int> value(1);
  int expected = 2;
  EXPECT(!value.compare_exchange_strong(expected, 5));
  EXPECT_EQ(expected, 1);
  EXPECT(value.compare_exchange_strong(expected, 5));
  EXPECT_EQ(value, 5);
  expected = 5;
  while (!value.compare_exchange_weak(expected, 6, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
    EXPECT_EQ(expected, 5);
  EXPECT_EQ(value, 6);
}

CASE(std_atomic, arithmetic) {
  std::atomic<unsigned> value(12);
  EXPECT_EQ(value.fetch_add(3), 12);
  EXPECT_EQ(value.fetch_sub(5), 15);
  EXPECT_EQ(value.fetch_and(6), 10);
  EXPECT_EQ(value.fetch_or(5), 2);
  EXPECT_EQ(value.fetch_xor(1), 7);
  EXPECT_EQ(++value, 7);
  EXPECT_EQ(value++, 7);
  EXPECT_EQ(--value, 7);
  EXPECT_EQ(value--, 7);
  EXPECT_EQ(value += 4, 10);
  EXPECT_EQ(value -= 1, 9);
  EXPECT_EQ(value &= 8, 8);
  EXPECT_EQ(value |= 3, 11);
  EXPECT_EQ(value ^= 1, 10);
}

CASE(std_atomic, pointers_and_floats) {
  int array[4] = {};
  std::atomic<int*> pointer(array);
  EXPECT(pointer.fetch_add(2) == array);
  EXPECT(--pointer == array + 1);
  EXPECT((pointer += 2) == array + 3);
  std::atomic<double> number(1.5);
  EXPECT(number.fetch_add(1) == 1.5);
  EXPECT(number.fetch_sub(0.5) == 2.5);
  EXPECT(number == 2.0);
}

CASE(std_atomic, no_update_is_lost) {
  std::atomic<int> added = 0;
  std::atomic<int> exchanged = 0;
  std::atomic<long long> wide = 0;
  std::atomic<char> narrow = 0;
  run_threads(4, [&](int) {
    for (int i = 0; i < 25; ++i) {
      ++added;
      wide += 1000000007;
      ++narrow;
      int seen = exchanged;
      while (!exchanged.compare_exchange_weak(seen, seen + 1)) {
      }
    }
  });
  EXPECT_EQ(added, 100);
  EXPECT_EQ(exchanged, 100);
  EXPECT_EQ(wide, 100000000700);
  EXPECT_EQ(narrow, 100);
}

CASE(std_atomic, free_functions) {
  std::atomic<int> value;
  std::atomic_store(&value, 3);
  EXPECT_EQ(std::atomic_load_explicit(&value, std::memory_order_relaxed), 3);
  EXPECT_EQ(std::atomic_exchange(&value, 4), 3);
  int expected = 4;
  EXPECT(std::atomic_compare_exchange_strong(&value, &expected, 5));
  EXPECT_EQ(std::atomic_fetch_add(&value, 1), 5);
  EXPECT_EQ(std::atomic_fetch_sub_explicit(&value, 1, std::memory_order_acq_rel), 6);
  EXPECT(std::atomic_is_lock_free(&value));
}

CASE(std_atomic, release_and_acquire) {
  int data = 0;
  std::atomic<bool> ready = false;
  std::thread writer([&] {
    data = 42;
    ready.store(true, std::memory_order_release);
  });
  while (!ready.load(std::memory_order_acquire)) std::this_thread::yield();
  EXPECT_EQ(data, 42);
  writer.join();
}

CASE(std_atomic_thread_fence, release_and_acquire) {
  int data = 0;
  std::atomic<bool> ready = false;
  std::thread writer([&] {
    data = 42;
    std::atomic_thread_fence(std::memory_order_release);
    ready.store(true, std::memory_order_relaxed);
  });
  while (!ready.load(std::memory_order_relaxed)) std::this_thread::yield();
  std::atomic_thread_fence(std::memory_order_acquire);
  EXPECT_EQ(data, 42);
  writer.join();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Sequential consistency: at least one thread sees the other's store.
CASE(std_atomic, store_buffering) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> x = 0;
    std::atomic<int> y = 0;
    int seen[2] = {};
    run_threads(2, [&](int i) {
      if (i == 0) {
        x = 1;
        seen[0] = y;
      } else {
        y = 1;
        seen[1] = x;
      }
    });
    EXPECT(seen[0] + seen[1] >= 1);
  }
}

CASE(std_atomic_flag, test_and_set) {
  std::atomic_flag flag;
  EXPECT(!flag.test());
  EXPECT(!flag.test_and_set());
  EXPECT(flag.test_and_set());
  EXPECT(flag.test());
  flag.clear();
  EXPECT(!flag.test());
  std::atomic_flag other = ATOMIC_FLAG_INIT;
  EXPECT(!std::atomic_flag_test_and_set(&other));
  EXPECT(other.test());
  std::atomic_flag_clear(&other);
}

CASE(std_atomic_flag, spin_lock) {
  std::atomic_flag flag;
  int counter = 0;
  run_threads(3, [&](int) {
    for (int i = 0; i < 30; ++i) {
      while (flag.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
      ++counter;
      flag.clear(std::memory_order_release);
    }
  });
  EXPECT_EQ(counter, 90);
}

CASE(std_atomic_ref, plain_objects) {
  int plain = 0;
  run_threads(4, [&](int) {
    std::atomic_ref<int> reference(plain);
    for (int i = 0; i < 25; ++i) ++reference;
  });
  EXPECT_EQ(plain, 100);
  std::atomic_ref<int> reference(plain);
  int expected = 100;
  EXPECT(reference.compare_exchange_strong(expected, 7));
  EXPECT_EQ(reference.exchange(8), 7);
  reference.store(9);
  EXPECT_EQ(reference.load(), 9);
  EXPECT_EQ(reference.fetch_or(16), 9);
  EXPECT_EQ(plain, 25);
}

struct Pair {
  int first;
  int second;
};

CASE(std_atomic, structures) {
  std::atomic<Pair> pair(Pair{0, 0});
  run_threads(3, [&](int) {
    for (int i = 0; i < 20; ++i) {
      Pair seen = pair.load();
      EXPECT(seen.first == seen.second);
      while (!pair.compare_exchange_weak(seen, Pair{seen.first + 1, seen.second + 1})) {
      }
    }
  });
  EXPECT_EQ(pair.load().first, 60);
}

CASE(std_atomic_shared_ptr, operations) {
  std::atomic<std::shared_ptr<int>> pointer;
  EXPECT(pointer.load() == nullptr);
  pointer.store(std::make_shared<int>(1));
  std::shared_ptr<int> old = pointer.exchange(std::make_shared<int>(2));
  EXPECT_EQ(*old, 1);
  std::shared_ptr<int> expected = old;
  EXPECT(!pointer.compare_exchange_strong(expected, old));
  EXPECT_EQ(*expected, 2);
  EXPECT(pointer.compare_exchange_strong(expected, old));
  EXPECT_EQ(*pointer.load(), 1);
}

CASE(std_atomic_shared_ptr, between_threads) {
  std::atomic<std::shared_ptr<int>> pointer(std::make_shared<int>(0));
  run_threads(4, [&](int) {
    for (int i = 0; i < 10; ++i) {
      std::shared_ptr<int> seen = pointer.load();
      while (!pointer.compare_exchange_weak(seen, std::make_shared<int>(*seen + 1))) {
      }
    }
  });
  EXPECT_EQ(*pointer.load(), 40);
  EXPECT_EQ(pointer.load().use_count(), 2);
}

CASE(std_atomic_weak_ptr, operations) {
  std::atomic<std::weak_ptr<int>> pointer;
  EXPECT(pointer.load().expired());
  auto owner = std::make_shared<int>(5);
  pointer.store(owner);
  EXPECT_EQ(*pointer.load().lock(), 5);
  owner.reset();
  EXPECT(pointer.load().expired());
}

CASE(std_atomic_load, of_shared_ptr) {
  std::shared_ptr<int> pointer = std::make_shared<int>(1);
  run_threads(3, [&](int i) {
    if (i == 0) std::atomic_store(&pointer, std::make_shared<int>(2));
    int value = *std::atomic_load(&pointer);
    EXPECT(value == 1 || value == 2);
  });
  EXPECT_EQ(*std::atomic_exchange(&pointer, std::make_shared<int>(3)), 2);
}

}  // namespace
