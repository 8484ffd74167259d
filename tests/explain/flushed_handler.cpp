// Handlers that keep a table open between statements, after MySQL 21587. FLUSH TABLES closes every table that no statement is using; a handler's
// table is not in use between its statements, and the handler still has the pointer.
// ROOT CAUSE: flushed_handler.cpp:64 (the table is freed), flushed_handler.cpp:100 (the handler still has it); KIND: order-violation or data-race or atomicity-violation
// SAYS: (freed|frees|gone|table_|Table)
#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class Storage {
 public:
  virtual ~Storage() = default;
  virtual int read(std::size_t row) const = 0;
  [[nodiscard]] virtual std::size_t rows() const = 0;
};

class MemoryStorage final : public Storage {
 public:
  explicit MemoryStorage(int first) {
    for (int i = 0; i < 4; ++i) values_.push_back(first + i);
  }
  int read(std::size_t row) const override { return values_.at(row); }
  [[nodiscard]] std::size_t rows() const override { return values_.size(); }

 private:
  std::vector<int> values_;
};

struct Table {
  std::string name;
  std::unique_ptr<Storage> storage;
  int in_use = 0;
  int handlers = 0;
};

class TableCache {
 public:
  Table* open(const std::string& name) {
    std::lock_guard lock(mutex_);
    for (const auto& table : tables_)
      if (table->name == name) {
        ++table->in_use;
        return table.get();
      }
    tables_.push_back(std::make_unique<Table>(
        Table{name, std::make_unique<MemoryStorage>(static_cast<int>(name.size())), 1, 0}));
    return tables_.back().get();
  }
  void release(Table* table) {
    std::lock_guard lock(mutex_);
    --table->in_use;
  }
  void flush() {
    std::lock_guard lock(mutex_);
    for (auto table = tables_.begin(); table != tables_.end();)
      if (is_unused(**table))
        table = tables_.erase(table);
      else
        ++table;
  }
  void keep(Table* table, int more) {
    std::lock_guard lock(mutex_);
    table->handlers += more;
  }
  std::size_t size() {
    std::lock_guard lock(mutex_);
    return tables_.size();
  }

 private:
  static bool is_unused(const Table& table) {
#ifdef FIXED
    return table.in_use == 0 && table.handlers == 0;
#else
    return table.in_use == 0;
#endif
  }
  std::mutex mutex_;
  std::list<std::unique_ptr<Table>> tables_;
};

// HANDLER t OPEN, HANDLER t READ NEXT, HANDLER t CLOSE
class Handler {
 public:
  explicit Handler(TableCache& cache) : cache_(cache) {}
  void open(const std::string& name) {
    table_ = cache_.open(name);
    cache_.keep(table_, 1);
    cache_.release(table_);
  }
  // False: there is no other row.
  bool read_next(int& value) {
    if (next_ >= table_->storage->rows()) return false;
    value = table_->storage->read(next_++);
    return true;
  }
  void close() {
    cache_.keep(table_, -1);
    table_ = nullptr;
  }

 private:
  TableCache& cache_;
  Table* table_ = nullptr;
  std::size_t next_ = 0;
};

int sum_by_handler(TableCache& cache, const std::string& name) {
  Handler handler(cache);
  handler.open(name);
  int sum = 0;
  int value = 0;
  while (handler.read_next(value)) sum += value;
  handler.close();
  return sum;
}

int sum_by_select(TableCache& cache, const std::string& name) {
  Table* table = cache.open(name);
  int sum = 0;
  for (std::size_t i = 0; i < table->storage->rows(); ++i) sum += table->storage->read(i);
  cache.release(table);
  return sum;
}

}  // namespace

int main() {
  TableCache cache;
  const int before = sum_by_select(cache, "orders");
  int sum = 0;
  std::thread reader([&] { sum = sum_by_handler(cache, "orders"); });
  std::thread administrator([&] {
    cache.flush();
    cache.open("users");
  });
  reader.join();
  administrator.join();
  std::printf("%d of %d\n", sum, before);
  return sum == before ? 0 : 1;
}
