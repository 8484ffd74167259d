// fail/check_then_act.cpp, fixed: one method checks and inserts under one lock.
// EXPECT: pass
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

class Cache {
 public:
  void insert_if_missing(int key, int value) {
    std::lock_guard lock(mutex_);
    if (entries_.count(key) != 0) return;
    entries_[key] = value;
    insertions_++;
  }

  int size() {
    std::lock_guard lock(mutex_);
    return static_cast<int>(entries_.size());
  }

  int insertions() {
    std::lock_guard lock(mutex_);
    return insertions_;
  }

 private:
  std::mutex mutex_;
  std::map<int, int> entries_;
  int insertions_ = 0;
};

static Cache cache;

static void look_up(int keys) {
  for (int key = 0; key < keys; key++) {
    cache.insert_if_missing(key, key * key);
  }
}

int main(int argc, char** argv) {
  int keys = argc > 1 ? std::atoi(argv[1]) : 2;
  std::thread first(look_up, keys);
  std::thread second(look_up, keys);
  first.join();
  second.join();
  std::printf("%d entries, %d insertions\n", cache.size(), cache.insertions());
  return cache.insertions() == cache.size() ? 0 : 1;
}
