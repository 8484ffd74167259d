// Read-write locks: pthread_rwlock, shared_mutex, shared_timed_mutex; many readers or one writer.
// EXPECT: pass
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../check.h"

class PthreadRwlock {
 public:
  ~PthreadRwlock() { CHECK(pthread_rwlock_destroy(&rwlock_) == 0); }
  void lock() { CHECK(pthread_rwlock_wrlock(&rwlock_) == 0); }
  bool try_lock() { return pthread_rwlock_trywrlock(&rwlock_) == 0; }
  void unlock() { CHECK(pthread_rwlock_unlock(&rwlock_) == 0); }
  void lock_shared() { CHECK(pthread_rwlock_rdlock(&rwlock_) == 0); }
  bool try_lock_shared() { return pthread_rwlock_tryrdlock(&rwlock_) == 0; }
  void unlock_shared() { CHECK(pthread_rwlock_unlock(&rwlock_) == 0); }

 private:
  pthread_rwlock_t rwlock_ = PTHREAD_RWLOCK_INITIALIZER;
};

// Writers keep two plain variables equal; readers must never see them differ.
template <typename Lock>
static void test_exclusion(int rounds) {
  Lock mutex;
  int left = 0, right = 0;
  std::atomic<int> reads = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) {
    threads.emplace_back([&] {
      for (int k = 0; k < rounds; k++) {
        std::unique_lock lock(mutex);
        left++;
        right++;
      }
    });
    threads.emplace_back([&] {
      for (int k = 0; k < rounds; k++) {
        std::shared_lock lock(mutex);
        CHECK(left == right);
        reads++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(left == 2 * rounds && right == 2 * rounds && reads == 2 * rounds);
}

template <typename Lock>
static void test_compatibility() {
  Lock mutex;
  mutex.lock_shared();
  std::thread([&] {  // another reader may enter, a writer may not
    CHECK(mutex.try_lock_shared());
    mutex.unlock_shared();
    CHECK(!mutex.try_lock());
  })
      .join();
  mutex.unlock_shared();

  mutex.lock();
  std::thread([&] {
    CHECK(!mutex.try_lock_shared());
    CHECK(!mutex.try_lock());
  }).join();
  mutex.unlock();
  CHECK(mutex.try_lock());
  mutex.unlock();
}

static void test_timed() {
  using namespace std::chrono_literals;
  std::shared_timed_mutex mutex;
  std::unique_lock writing(mutex);
  std::thread([&] {
    auto start = std::chrono::steady_clock::now();
    CHECK(!mutex.try_lock_for(2ms));
    CHECK(!mutex.try_lock_shared_for(2ms));
    CHECK(std::chrono::steady_clock::now() - start >= 4ms);
  }).join();
  writing.unlock();
  CHECK(mutex.try_lock_shared_until(std::chrono::system_clock::now() + 10s));
  mutex.unlock_shared();
}

static void test_errors() {
  pthread_rwlock_t rwlock;
  CHECK(pthread_rwlock_init(&rwlock, nullptr) == 0);
  CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
  CHECK(pthread_rwlock_wrlock(&rwlock) == EDEADLK);
  CHECK(pthread_rwlock_rdlock(&rwlock) == EDEADLK);
  CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
  CHECK(pthread_rwlock_tryrdlock(&rwlock) == EBUSY);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
  CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
  CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_rwlock_destroy(&rwlock) == 0);
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  test_exclusion<PthreadRwlock>(rounds);
  test_exclusion<std::shared_mutex>(rounds);
  test_exclusion<std::shared_timed_mutex>(rounds);
  test_compatibility<PthreadRwlock>();
  test_compatibility<std::shared_mutex>();
  test_compatibility<std::shared_timed_mutex>();
  test_timed();
  test_errors();
  std::puts("ok");
}
