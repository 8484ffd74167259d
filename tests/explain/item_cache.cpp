// A cache server in the manner of memcached (issue 127): commands come as text and are executed by worker threads. `incr` looks the item up under the
// table's lock, computes, and stores the result under the lock again, so that two increments may both begin with the same number.
// ROOT CAUSE: item_cache.cpp:106 (looked up), item_cache.cpp:109 (stored, under the lock taken anew); KIND: atomicity-violation
// SAYS: All three hold `[^`]*lock_`, but it is released in between
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Item {
  std::string key;
  std::string value;
  unsigned flags = 0;
  unsigned long version = 0;
  Item* next = nullptr;
};

// A hash table with chains.
class Table {
 public:
  explicit Table(std::size_t buckets) : buckets_(buckets, nullptr) {}
  ~Table() {
    for (Item* head : buckets_)
      while (head != nullptr) {
        Item* next = head->next;
        delete head;
        head = next;
      }
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Item* find(const std::string& key) {
    for (Item* item = buckets_[index(key)]; item != nullptr; item = item->next)
      if (item->key == key) return item;
    return nullptr;
  }
  Item* insert(const std::string& key) {
    Item*& head = buckets_[index(key)];
    Item* item = new Item;
    item->key = key;
    item->next = head;
    head = item;
    count_++;
    return item;
  }
  bool erase(const std::string& key) {
    Item** link = &buckets_[index(key)];
    while (*link != nullptr && (*link)->key != key) link = &(*link)->next;
    if (*link == nullptr) return false;
    Item* gone = *link;
    *link = gone->next;
    delete gone;
    count_--;
    return true;
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t index(const std::string& key) const {
    std::size_t hash = 5381;
    for (char c : key) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash % buckets_.size();
  }

  std::vector<Item*> buckets_;
  std::size_t count_ = 0;
};

class Store {
 public:
  Store() : table_(8) {}

  std::optional<std::string> get(const std::string& key) {
    std::lock_guard guard(lock_);
    const Item* item = table_.find(key);
    if (item == nullptr) return std::nullopt;
    return item->value;
  }

  void set(const std::string& key, const std::string& value) {
    std::lock_guard guard(lock_);
    put(key, value);
  }

  bool remove(const std::string& key) {
    std::lock_guard guard(lock_);
    return table_.erase(key);
  }

  std::optional<long> add(const std::string& key, long delta) {
#ifdef FIXED
    std::lock_guard guard(lock_);
    const Item* item = table_.find(key);
    if (item == nullptr) return std::nullopt;
    const long result = std::stol(item->value) + delta;
    put(key, std::to_string(result));
    return result;
#else
    const auto found = get(key);
    if (!found) return std::nullopt;
    const long result = std::stol(*found) + delta;
    set(key, std::to_string(result));
    return result;
#endif
  }

 private:
  void put(const std::string& key, const std::string& value) {
    Item* item = table_.find(key);
    if (item == nullptr) item = table_.insert(key);
    item->value = value;
    item->version = ++version_;
  }

  std::mutex lock_;
  Table table_;
  unsigned long version_ = 0;
};

class Protocol {
 public:
  explicit Protocol(Store& store) : store_(store) {}

  std::string execute(const std::string& line) {
    std::istringstream words(line);
    std::string verb, key;
    words >> verb >> key;
    if (verb == "get") {
      const auto value = store_.get(key);
      return value ? "VALUE " + *value : "END";
    }
    if (verb == "set") {
      std::string value;
      words >> value;
      store_.set(key, value);
      return "STORED";
    }
    if (verb == "delete") return store_.remove(key) ? "DELETED" : "NOT_FOUND";
    if (verb == "incr" || verb == "decr") {
      long delta = 0;
      words >> delta;
      const auto result = store_.add(key, verb == "incr" ? delta : -delta);
      return result ? std::to_string(*result) : "NOT_FOUND";
    }
    return "ERROR";
  }

 private:
  Store& store_;
};

class Connection {
 public:
  Connection(Store& store, std::vector<std::string> lines)
      : protocol_(store), lines_(std::move(lines)) {}
  void serve() {
    for (const std::string& line : lines_) replies_.push_back(protocol_.execute(line));
  }
  const std::vector<std::string>& replies() const { return replies_; }

 private:
  Protocol protocol_;
  std::vector<std::string> lines_;
  std::vector<std::string> replies_;
};

}  // namespace

int main() {
  Store store;
  Protocol local(store);
  local.execute("set hits 10");
  Connection first(store, {"get hits", "incr hits 5", "set left done"});
  Connection second(store, {"set right done", "incr hits 7", "get hits"});
  std::thread a([&] { first.serve(); });
  std::thread b([&] { second.serve(); });
  a.join();
  b.join();
  const std::string hits = local.execute("get hits");
  std::printf("%s\n", hits.c_str());
  return hits == "VALUE 22" ? 0 : 1;
}
