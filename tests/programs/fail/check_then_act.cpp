// A cache whose `contains` and `insert` are each locked, but not the two together. Two threads can
// both miss the same key and both insert it.
// ROOT CAUSE: check_then_act.cpp:45 (the check), check_then_act.cpp:46 (the act); KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

class Cache {
 public:
  bool contains(int key) {
    std::lock_guard lock(mutex_);
    return entries_.count(key) != 0;
  }

  void insert(int key, int value) {
    std::lock_guard lock(mutex_);
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
    if (!cache.contains(key)) {
      cache.insert(key, key * key);
    }
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
