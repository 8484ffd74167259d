// A bounded buffer whose consumers wait with `if` instead of `while`. Between the signal and the
// moment the woken consumer has the lock again, another consumer can take the item.
// ROOT CAUSE: bounded_buffer.cpp:25; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

class BoundedBuffer {
 public:
  void put(int item) {
    std::unique_lock lock(mutex_);
    while (count_ == kCapacity) not_full_.wait(lock);
    items_[(first_ + count_) % kCapacity] = item;
    count_++;
    not_empty_.notify_one();
  }

  int take() {
    std::unique_lock lock(mutex_);
    if (count_ == 0) not_empty_.wait(lock);
    assert(count_ > 0);
    int item = items_[first_];
    first_ = (first_ + 1) % kCapacity;
    count_--;
    not_full_.notify_one();
    return item;
  }

 private:
  static constexpr int kCapacity = 2;

  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  int items_[kCapacity] = {};
  int first_ = 0;
  int count_ = 0;
};

static BoundedBuffer buffer;

static void produce(int items) {
  for (int i = 1; i <= items; i++) buffer.put(i);
}

static void consume(int items, long* sum) {
  for (int i = 0; i < items; i++) *sum += buffer.take();
}

int main(int argc, char** argv) {
  int items = argc > 1 ? std::atoi(argv[1]) : 2;  // for each consumer
  long sum[2] = {};
  std::thread producer(produce, 2 * items);
  std::thread consumer_1(consume, items, &sum[0]);
  std::thread consumer_2(consume, items, &sum[1]);
  producer.join();
  consumer_1.join();
  consumer_2.join();

  std::printf("sum %ld\n", sum[0] + sum[1]);
  return sum[0] + sum[1] == long{items} * (2 * items + 1) ? 0 : 1;
}
