// A bucket of tokens with timed waits. acquire() waits once and takes a token after any wake-up that is not a time-out; another caller may have taken
// it between the notification and the wake-up: more is granted than was issued.
// ROOT CAUSE: rate_limiter.cpp:27, rate_limiter.cpp:28, rate_limiter.cpp:34; KIND: atomicity-violation
// SAYS: All three hold `bucket\.mutex_`, but it is released in between
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

class TokenBucket {
 public:
  explicit TokenBucket(int tokens) : tokens_(tokens) {}

  bool acquire(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
#ifdef FIXED
    if (!refilled_.wait_for(lock, patience, [this] { return tokens_ > 0; })) {
      rejected_++;
      return false;
    }
#else
    if (tokens_ == 0) {
      if (refilled_.wait_for(lock, patience) == std::cv_status::timeout) {
        rejected_++;
        return false;
      }
    }
#endif
    tokens_--;
    granted_++;
    return true;
  }

  void refill(int count) {
    {
      std::lock_guard lock(mutex_);
      tokens_ += count;
      issued_ += count;
    }
    refilled_.notify_one();
  }

  int granted() const { return granted_; }
  int issued() const { return issued_; }
  int rejected() const { return rejected_; }

 private:
  std::mutex mutex_;
  std::condition_variable refilled_;
  int tokens_;
  int issued_ = 0;
  int granted_ = 0;
  int rejected_ = 0;
};

class Client {
 public:
  Client(TokenBucket& bucket, int requests) : bucket_(bucket), requests_(requests) {}
  void run() {
    for (int i = 0; i < requests_; i++) {
      if (bucket_.acquire(500ms)) {
        served_++;
      } else {
        std::this_thread::sleep_for(10ms);
      }
    }
  }
  int served() const { return served_; }

 private:
  TokenBucket& bucket_;
  int requests_;
  int served_ = 0;
};

int main() {
  TokenBucket bucket(0);
  Client a(bucket, 2);
  Client b(bucket, 2);
  std::thread first([&] { a.run(); });
  std::thread second([&] { b.run(); });
  std::thread refiller([&] {
    for (int i = 0; i < 3; i++) {
      bucket.refill(1);
      std::this_thread::sleep_for(50ms);
    }
  });
  first.join();
  second.join();
  refiller.join();
  std::printf("issued %d, granted %d, rejected %d, served %d\n", bucket.issued(), bucket.granted(),
              bucket.rejected(), a.served() + b.served());
  assert(bucket.granted() <= bucket.issued());
  return 0;
}
