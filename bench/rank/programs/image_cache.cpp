// A cache of images in front of a slow store, used by several threads. A thread that does not find an image loads it and
// inserts it; the look and the insertion hold the lock, both together do not. If two threads load the same image, the second
// insertion adds its size once more, so that the cache believes itself to be fuller than it is and evicts images that are in use.
// Exits with 1 if an image that was pinned is not there any more.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Image = std::shared_ptr<const std::string>;

// Images by number; loading one takes a while.
class Store {
 public:
  Image load(int number) {
    std::string pixels;
    for (int i = 0; i < size_of(number); ++i) {
      pixels += static_cast<char>('a' + (number * 7 + i) % 26);
      if (i % 8 == 0) {
        std::this_thread::yield();
      }
    }
    std::lock_guard<std::mutex> lock(mutex_);
    ++loads_;
    return std::make_shared<const std::string>(pixels);
  }
  static int size_of(int number) { return 12 + number % 3 * 4; }
  int loads() {
    std::lock_guard<std::mutex> lock(mutex_);
    return loads_;
  }

 private:
  std::mutex mutex_;
  int loads_ = 0;
};

class Cache {
 public:
  Cache(Store& store, int room) : store_(store), room_(room) {}

  Image get(int number) {
    if (Image found = find(number)) {
      return found;
    }
    Image loaded = store_.load(number);
    insert(number, loaded);
    return loaded;
  }
  bool contains(int number) {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.count(number) > 0;
  }
  int evictions() {
    std::lock_guard<std::mutex> lock(mutex_);
    return evictions_;
  }

 private:
  struct Entry {
    Image image;
    std::list<int>::iterator place;
  };

  Image find(int number) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(number);
    if (found == entries_.end()) {
      return nullptr;
    }
    touch(found->second);
    return found->second.image;
  }
  void touch(Entry& entry) { order_.splice(order_.begin(), order_, entry.place); }
  void insert(int number, const Image& image) {
    std::lock_guard<std::mutex> lock(mutex_);
#ifdef FIXED
    if (entries_.count(number) > 0) {
      return;
    }
#endif
    used_ += static_cast<int>(image->size());
    const auto [entry, added] = entries_.try_emplace(number);
    if (added) {
      order_.push_front(number);
      entry->second.place = order_.begin();
    }
    entry->second.image = image;
    while (used_ > room_ && order_.size() > 1) {
      evict_last();
    }
  }
  void evict_last() {
    const int number = order_.back();
    const auto found = entries_.find(number);
    used_ -= static_cast<int>(found->second.image->size());
    order_.pop_back();
    entries_.erase(found);
    ++evictions_;
  }

  Store& store_;
  const int room_;
  std::mutex mutex_;
  std::map<int, Entry> entries_;
  std::list<int> order_;
  int used_ = 0;
  int evictions_ = 0;
};

// A page shows some images, one after the other.
class Page {
 public:
  Page(Cache& cache, std::vector<int> numbers) : cache_(cache), numbers_(std::move(numbers)) {}

  void start() { thread_ = std::thread(&Page::run, this); }
  void join() { thread_.join(); }
  std::size_t bytes() const { return bytes_; }

 private:
  void run() {
    for (const int number : numbers_) {
      show(cache_.get(number));
    }
  }
  void show(const Image& image) {
    std::size_t sum = 0;
    for (const char c : *image) {
      sum += c > 'm' ? 1 : 2;
    }
    bytes_ += image->size();
    brightness_ += sum;
  }

  Cache& cache_;
  std::vector<int> numbers_;
  std::thread thread_;
  std::size_t bytes_ = 0;
  std::size_t brightness_ = 0;
};

int missing(Cache& cache, int images) {
  int count = 0;
  for (int number = 0; number < images; ++number) {
    if (!cache.contains(number)) {
      ++count;
    }
  }
  return count;
}

int room_for(int images) {
  int bytes = 0;
  for (int number = 0; number < images; ++number) {
    bytes += Store::size_of(number);
  }
  return bytes;
}

int main() {
  constexpr int kImages = 6;
  Store store;
  Cache cache(store, room_for(kImages) + 4);
  std::vector<std::unique_ptr<Page>> pages;
  pages.push_back(std::make_unique<Page>(cache, std::vector<int>{0, 1, 2, 3, 4, 5}));
  pages.push_back(std::make_unique<Page>(cache, std::vector<int>{3, 4, 5, 0, 1, 2}));
  pages.push_back(std::make_unique<Page>(cache, std::vector<int>{5, 2, 1, 4}));
  for (const auto& page : pages) {
    page->start();
  }
  std::size_t bytes = 0;
  for (const auto& page : pages) {
    page->join();
    bytes += page->bytes();
  }
  const int lost = missing(cache, kImages);
  std::printf("%zu bytes shown, %d loads, %d evictions, %d images missing\n", bytes, store.loads(),
              cache.evictions(), lost);
  return lost == 0 ? 0 : 1;
}
