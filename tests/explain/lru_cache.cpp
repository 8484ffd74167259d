// A cache of picture sizes with least-recently-used eviction. get() looks an entry up under the shared lock, gives the lock up, and moves the entry
// to the front under the exclusive lock with the iterator of before; put() may have evicted the entry in between, and its node serves another picture.
// ROOT CAUSE: lru_cache.cpp:43, lru_cache.cpp:47, lru_cache.cpp:87; KIND: order-violation or atomicity-violation
// SAYS: after T0\.\d has freed that memory
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

struct Size {
  int width = 0;
  int height = 0;
};

class LruCache {
 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Size> get(const std::string& key) {
#ifdef FIXED
    std::unique_lock lock(mutex_);
    auto found = index_.find(key);
    if (found == index_.end()) {
      misses_++;
      return std::nullopt;
    }
    auto entry = found->second;
#else
    std::list<Entry>::iterator entry;
    {
      std::shared_lock lock(mutex_);
      auto found = index_.find(key);
      if (found == index_.end()) return std::nullopt;
      entry = found->second;
    }
    std::unique_lock lock(mutex_);
#endif
    order_.splice(order_.begin(), order_, entry);
    hits_++;
    return entry->value;
  }

  void put(const std::string& key, Size value) {
    std::unique_lock lock(mutex_);
    auto found = index_.find(key);
    if (found != index_.end()) {
      found->second->value = value;
      order_.splice(order_.begin(), order_, found->second);
      return;
    }
    if (order_.size() == capacity_) evict();
    order_.push_front(Entry{key, value});
    index_[key] = order_.begin();
  }

  bool consistent() {
    std::unique_lock lock(mutex_);
    if (order_.size() != index_.size()) return false;
    std::size_t seen = 0;
    for (auto it = order_.begin(); it != order_.end(); ++it) {
      auto found = index_.find(it->key);
      if (found == index_.end() || found->second != it) return false;
      if (++seen > capacity_) return false;
    }
    return true;
  }

  std::size_t hits() const { return hits_; }

 private:
  struct Entry {
    std::string key;
    Size value;
  };

  void evict() {
    index_.erase(order_.back().key);
    order_.pop_back();
  }

  std::size_t capacity_;
  std::size_t hits_ = 0;
  std::size_t misses_ = 0;
  std::shared_mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
};

std::string name_of(int picture) { return "picture-" + std::to_string(picture) + ".png"; }

Size measure(int picture) { return Size{picture * 10, picture * 20}; }

void render(LruCache& cache, const std::vector<int>& pictures) {
  for (int picture : pictures) {
    std::string name = name_of(picture);
    std::optional<Size> size = cache.get(name);
    if (!size) {
      size = measure(picture);
      cache.put(name, *size);
    }
    if (size->width != measure(picture).width) {
      std::printf("%s is %dx%d\n", name.c_str(), size->width, size->height);
      std::abort();
    }
  }
}

}  // namespace

int main() {
  LruCache cache(2);
  cache.put(name_of(1), measure(1));
  cache.put(name_of(2), measure(2));
  std::thread first(render, std::ref(cache), std::vector<int>{1, 2, 1});
  std::thread second(render, std::ref(cache), std::vector<int>{3, 2, 4});
  first.join();
  second.join();
  if (!cache.consistent()) {
    std::printf("cache is not consistent\n");
    return 1;
  }
  std::printf("%zu hits\n", cache.hits());
  return 0;
}
