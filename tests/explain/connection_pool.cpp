// A pool of database connections: a client looks for a free one, and marks it as taken under the lock taken anew, so that two clients may lease the
// same connection. It shows much later, when the second of them gives it back.
// ROOT CAUSE: connection_pool.cpp:107 (seen to be free), connection_pool.cpp:113 (taken, under the lock taken anew); KIND: atomicity-violation
// SAYS: All three hold `[^`]*mutex_`, but it is released in between
// (Which pair of runs is compared decides what is told behind it.)
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace db {

class Connection {
 public:
  explicit Connection(int id) : id_(id) {}
  int id() const { return id_; }

  std::string query(const std::string& sql) {
    if (!open_)
      throw std::runtime_error("query on closed connection " + std::to_string(id_) + ": " + sql);
    served_++;
    return "row:" + sql;
  }
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  int served() const { return served_; }

 private:
  int id_;
  bool open_ = true;
  int served_ = 0;
};

struct Slot {
  std::unique_ptr<Connection> connection;
  bool busy = false;
  int idle_rounds = 0;
};

class Pool {
 public:
  explicit Pool(int size) {
    for (int i = 0; i < size; i++) {
      Slot slot;
      slot.connection = std::make_unique<Connection>(next_id_++);
      slots_.push_back(std::move(slot));
    }
  }

  class Lease {
   public:
    Lease(Pool* pool, int index) : pool_(pool), index_(index) {}
    Lease(const Lease&) = delete;
    Lease(Lease&& other) noexcept : pool_(other.pool_), index_(other.index_) {
      other.pool_ = nullptr;
    }
    ~Lease() {
      if (pool_) pool_->give_back(index_);
    }
    Connection& operator*() { return pool_->at(index_); }

   private:
    Pool* pool_;
    int index_;
  };

  Lease acquire() {
    std::unique_lock lock(mutex_);
    for (;;) {
      int index = find_free();
      if (index >= 0) {
#ifndef FIXED
        lock.unlock();
        lock.lock();
#endif
        return prepare(index);
      }
      freed_.wait(lock);
    }
  }

  // Called by the health checker: closes connections that nobody has used for a while.
  int reap() {
    std::lock_guard lock(mutex_);
    int closed = 0;
    for (auto& slot : slots_) {
      if (slot.busy) continue;
      if (++slot.idle_rounds < 2) continue;
      slot.connection->close();
      slot.connection = std::make_unique<Connection>(next_id_++);
      slot.idle_rounds = 0;
      closed++;
    }
    return closed;
  }

 private:
  int find_free() {
    for (size_t i = 0; i < slots_.size(); i++) {
      if (!slots_[i].busy) return static_cast<int>(i);
    }
    return -1;
  }

  Lease prepare(int index) {
    slots_[index].busy = true;
    slots_[index].idle_rounds = 0;
    return Lease(this, index);
  }

  void give_back(int index) {
    {
      std::lock_guard lock(mutex_);
      assert(slots_[index].busy && "returned a connection that is not leased");
      slots_[index].busy = false;
    }
    freed_.notify_one();
  }

  Connection& at(int index) { return *slots_[index].connection; }

  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Slot> slots_;
  int next_id_ = 1;
};

}  // namespace db

class Report {
 public:
  void add(const std::string& who, const std::string& row) {
    std::lock_guard lock(mutex_);
    rows_[who].push_back(row);
  }
  size_t total() const {
    std::lock_guard lock(mutex_);
    size_t n = 0;
    for (auto& [who, rows] : rows_) n += rows.size();
    return n;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> rows_;
};

static void serve(db::Pool& pool, Report& report, const std::string& name, int requests) {
  for (int i = 0; i < requests; i++) {
    auto lease = pool.acquire();
    report.add(name, (*lease).query("select " + std::to_string(i)));
  }
}

int main() {
  db::Pool pool(2);
  Report report;
  std::vector<std::thread> clients;
  for (int c = 0; c < 2; c++) {
    clients.emplace_back([&, c] { serve(pool, report, "client" + std::to_string(c), 2); });
  }
  std::thread checker([&] {
    for (int round = 0; round < 3; round++) pool.reap();
  });
  for (auto& t : clients) t.join();
  checker.join();
  std::printf("%zu rows\n", report.total());
  return report.total() == 4 ? 0 : 1;
}
