// A cache of results that is also found by the databases they come from, after MySQL 12212. Dropping a database walks over its results and removes
// each; who removes a single result takes it out of the same list, by another lock.
// ROOT CAUSE: database_names.cpp:66 (the list is walked), database_names.cpp:67 (an entry of it is read), database_names.cpp:70 (what follows it is read), database_names.cpp:84 (taken out of it, and freed); KIND: data-race or order-violation or atomicity-violation
// SAYS: (results|previous|next|freed|frees)
#include <cassert>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Entry {
  std::string query;
  std::string database;
  Entry* next = nullptr;  // of the same database
  Entry* previous = nullptr;
};

struct Database {
  std::string name;
  Entry* results = nullptr;
  int count = 0;
};

class NamesOfDatabases {
 public:
  Database& get(const std::string& name) {
    auto& known = databases_[name];
    if (known == nullptr) known = std::make_unique<Database>(Database{name, nullptr, 0});
    return *known;
  }

 private:
  std::map<std::string, std::unique_ptr<Database>> databases_;
};

class ResultCache {
 public:
  void store(const std::string& database, const std::string& query) {
    std::scoped_lock lock(structure_, names_);
    auto& entry = entries_[query];
    if (entry != nullptr) return;
    entry = std::make_unique<Entry>(Entry{query, database, nullptr, nullptr});
    Database& of = databases_.get(database);
    entry->next = of.results;
    if (of.results != nullptr) of.results->previous = entry.get();
    of.results = entry.get();
    ++of.count;
  }

  // All that was stored of it.
  int drop(const std::string& database) {
#ifdef FIXED
    std::scoped_lock lock(structure_, names_);
#else
    std::lock_guard lock(names_);
#endif
    Database& of = databases_.get(database);
    int dropped = 0;
    std::vector<std::string> queries;
    for (Entry* entry = of.results; entry != nullptr;) {
      queries.push_back(entry->query);
      ++dropped;
      entry->previous = nullptr;
      entry = std::exchange(entry->next, nullptr);
    }
    of.results = nullptr;
    of.count -= dropped;
    dropped_.insert(dropped_.end(), queries.begin(), queries.end());
    return dropped;
  }

  // A table has changed: the result is not valid any more.
  void invalidate(const std::string& query) {
    std::lock_guard lock(structure_);
    const auto found = entries_.find(query);
    if (found == entries_.end()) return;
    unlink(*found->second);
    entries_.erase(found);
  }
  int count(const std::string& database) {
    std::scoped_lock lock(structure_, names_);
    return databases_.get(database).count;
  }

 private:
  void unlink(Entry& entry) {
    Database& of = databases_.get(entry.database);
    if (entry.previous != nullptr) {
      entry.previous->next = entry.next;
    } else if (of.results == &entry) {
      of.results = entry.next;
    } else {
      return;  // dropped before
    }
    if (entry.next != nullptr) entry.next->previous = entry.previous;
    --of.count;
  }

  std::mutex structure_;
  std::mutex names_;
  NamesOfDatabases databases_;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  std::vector<std::string> dropped_;
};

}  // namespace

int main() {
  ResultCache cache;
  for (const char* query : {"select a", "select b", "select c"}) cache.store("shop", query);
  cache.store("blog", "select d");
  std::thread client([&] { cache.invalidate("select b"); });
  std::thread administrator([&] { cache.drop("shop"); });
  client.join();
  administrator.join();
  const int left = cache.count("shop");
  if (left != 0) std::fprintf(stderr, "%d results of a database that is dropped\n", left);
  return left == 0 ? 0 : 1;
}
