// Two readers want to become writers without releasing their read locks. Each waits until it
// is the only reader left, so both wait for ever.
// ROOT CAUSE: rwlock_upgrade.cpp:23; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

class UpgradableLock {
 public:
  void lock_shared() {
    std::unique_lock lock(mutex_);
    while (writing_) changed_.wait(lock);
    readers_++;
  }

  // REQUIRES: the caller holds a shared lock, which becomes exclusive.
  void upgrade() {
    std::unique_lock lock(mutex_);
    while (readers_ > 1) changed_.wait(lock);
    readers_ = 0;
    writing_ = true;
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
  bool writing_ = false;
};

static UpgradableLock table_lock;
static int version = 0;

static void update(int times) {
  for (int i = 0; i < times; i++) {
    table_lock.lock_shared();
    int seen = version;
    table_lock.upgrade();
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
