// A cache with readers and writers: std::condition_variable_any with a shared lock. A reader waits for "loading" to end by an
// `if`; a writer that starts to load again before the reader has its lock back leaves it with an entry that is not there.
// ROOT CAUSE: shared_cache.cpp:52, shared_cache.cpp:54; KIND: atomicity-violation
// SAYS: returns from its wait at .* does not look at `cache.loading_` again, which T0.1 has written
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

struct Entry {
  int version = 0;
  int value = 0;
};

class Cache {
 public:
  void begin_load() {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    loading_ = true;
    entry_.reset();
  }
  void end_load(int version) {
    auto fresh = std::make_unique<Entry>();
    fresh->version = version;
    fresh->value = version * 10;
    {
      std::unique_lock<std::shared_mutex> lock(mutex_);
      entry_ = std::move(fresh);
      loading_ = false;
    }
    loaded_.notify_all();
  }
  void reload(int times) {
    for (int i = 1; i <= times; ++i) {
      begin_load();
      end_load(i);
    }
  }

  int read() {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    ++reads_;
    // The entry is set whenever it is not being loaded.

#ifdef FIXED
    while (loading_)
#else
    if (loading_)
#endif
      loaded_.wait(lock);
    return entry_->value;
  }

 private:
  std::shared_mutex mutex_;
  std::condition_variable_any loaded_;
  bool loading_ = true;
  std::unique_ptr<Entry> entry_;
  int reads_ = 0;
};

int main() {
  Cache cache;
  int last = 0;
  std::thread loader([&] { cache.reload(3); });
  std::thread reader([&] {
    for (int i = 0; i < 2; ++i) last = cache.read();
  });
  loader.join();
  reader.join();
  std::printf("%d\n", last);
  return last >= 10 ? 0 : 1;
}
