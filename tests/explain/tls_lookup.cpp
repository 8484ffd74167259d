// Look-ups are cached for each thread, and a generation number makes the caches invalid. remove() frees the record first and raises the generation
// after that: a thread whose cache is still valid uses the freed record.
// ROOT CAUSE: tls_lookup.cpp:35, tls_lookup.cpp:49, tls_lookup.cpp:50, tls_lookup.cpp:70; KIND: order-violation
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Record {
  int id;
  int credit;
  std::string name;
};

class Directory {
 public:
  void add(int id, int credit, std::string name) {
    std::lock_guard lock(mutex_);
    records_[id] = std::make_unique<Record>(Record{id, credit, std::move(name)});
  }

  const Record* find(int id) {
    Cache& cache = cache_;
    unsigned now = generation_.load();
    if (cache.generation != now) {
      cache.entries.clear();
      cache.generation = now;
    }
    auto cached = cache.entries.find(id);
    if (cached != cache.entries.end()) return cached->second;
    std::lock_guard lock(mutex_);
    auto found = records_.find(id);
    const Record* record = found == records_.end() ? nullptr : found->second.get();
    cache.entries[id] = record;
    return record;
  }

  void remove(int id) {
    std::lock_guard lock(mutex_);
#ifdef FIXED
    auto found = records_.find(id);
    if (found != records_.end()) retired_.push_back(std::move(found->second));
#endif
    records_.erase(id);
    generation_++;
  }

 private:
  struct Cache {
    unsigned generation = 0;
    std::unordered_map<int, const Record*> entries;
  };
  static thread_local Cache cache_;
  std::mutex mutex_;
  std::atomic<unsigned> generation_{1};
  std::unordered_map<int, std::unique_ptr<Record>> records_;
  std::vector<std::unique_ptr<Record>> retired_;
};

thread_local Directory::Cache Directory::cache_;

static int spend(Directory& directory, int id) {
  const Record* record = directory.find(id);
  if (record == nullptr) return 0;
  if (record->id != id) {
    std::fprintf(stderr, "record %d under %d\n", record->id, id);
    std::abort();
  }
  return record->credit;
}

int main() {
  Directory directory;
  directory.add(1, 10, "somebody with a long name, on the heap");
  directory.add(2, 20, "somebody else with a long name, on the heap");
  std::atomic<int> spent{0};
  std::thread shop([&] {
    for (int i = 0; i < 3; i++) spent += spend(directory, 1);
  });
  std::thread admin([&] {
    directory.remove(1);
    directory.add(3, 30, "a newcomer, whose record takes the place of the old one");
  });
  shop.join();
  admin.join();
  std::printf("%d spent\n", spent.load());
}
