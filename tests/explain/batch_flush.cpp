// Request counters are kept per thread and added to the totals under try_lock: if the lock is taken the batch is dropped
// instead of being kept for the next time.
// ROOT CAUSE: batch_flush.cpp:30; KIND: choice
// SAYS: `pthread_mutex_trylock` of T0\.\d for `server.totals_.mutex_` at .* fails
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Batch {
  int requests = 0;
  int bytes = 0;
};

class Totals {
 public:
  void add_now(const Batch& batch) {
    requests_ += batch.requests;
    bytes_ += batch.bytes;
  }
  std::mutex& mutex() { return mutex_; }
  int requests() const { return requests_; }
  int bytes() const { return bytes_; }

  // Does not wait: requests must not be held up by statistics.
  void flush(Batch& batch) {
    if (!mutex_.try_lock()) {
#ifndef FIXED
      batch = Batch();
#endif
      return;
    }
    add_now(batch);
    batch = Batch();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  int requests_ = 0;
  int bytes_ = 0;
};

class Connection {
 public:
  Connection(Totals& totals, int id) : totals_(totals), id_(id) {}
  void serve(int count) {
    for (int i = 0; i < count; ++i) {
      ++batch_.requests;
      batch_.bytes += 100 * id_ + i;
      if (batch_.requests >= 2) totals_.flush(batch_);
    }
    finish();
  }

 private:
  void finish() {
    std::lock_guard<std::mutex> guard(totals_.mutex());
    totals_.add_now(batch_);
    batch_ = Batch();
  }
  Totals& totals_;
  int id_;
  Batch batch_;
};

class Server {
 public:
  void run(int connections, int each) {
    std::vector<std::thread> threads;
    for (int id = 1; id <= connections; ++id)
      threads.emplace_back([this, id, each] {
        Connection connection(totals_, id);
        connection.serve(each);
      });
    for (std::thread& thread : threads) thread.join();
  }
  const Totals& totals() const { return totals_; }

 private:
  Totals totals_;
};

int main() {
  Server server;
  server.run(3, 4);
  std::printf("%d requests, %d bytes\n", server.totals().requests(), server.totals().bytes());
  assert(server.totals().requests() == 12);
  return 0;
}
