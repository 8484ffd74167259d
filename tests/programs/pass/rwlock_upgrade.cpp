// fail/rwlock_upgrade.cpp, fixed: only one reader at a time may intend to write; the others are
// refused, release and start again.
// EXPECT: pass
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

class UpgradableLock {
 public:
  void lock_shared() {
    std::unique_lock lock(mutex_);
    while (writing_ || upgrading_) changed_.wait(lock);
    readers_++;
  }

  enum class Upgrade { kDone, kRefused };

  // REQUIRES: the caller holds a shared lock, which becomes exclusive or, if refused, is released.
  Upgrade upgrade() {
    std::unique_lock lock(mutex_);
    if (upgrading_) {
      readers_--;
      changed_.notify_all();
      return Upgrade::kRefused;
    }
    upgrading_ = true;
    while (readers_ > 1) changed_.wait(lock);
    upgrading_ = false;
    readers_ = 0;
    writing_ = true;
    return Upgrade::kDone;
  }

  void unlock() {
    std::lock_guard lock(mutex_);
    writing_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int readers_ = 0;
  bool upgrading_ = false;
  bool writing_ = false;
};

static UpgradableLock table_lock;
static int version = 0;

static void update(int times) {
  for (int i = 0; i < times; i++) {
    int seen;
    do {
      table_lock.lock_shared();
      seen = version;
    } while (table_lock.upgrade() == UpgradableLock::Upgrade::kRefused);
    version = seen + 1;
    table_lock.unlock();
  }
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 1;
  std::thread first(update, times);
  std::thread second(update, times);
  first.join();
  second.join();
  std::printf("version %d\n", version);
  return version == 2 * times ? 0 : 1;
}
