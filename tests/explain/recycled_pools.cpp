// A server that keeps the memory pools of finished connections in a list without a lock, after Apache 44402. Taking one reads the first and what
// follows it, and then exchanges them if the first is still the first. In between another worker can take two and give the first one back: it is
// first again, but what follows it is in use by then. Two connections get the same pool.
// ROOT CAUSE: recycled_pools.cpp:46 (what follows the first is read), recycled_pools.cpp:47 (exchanged although the list has changed), recycled_pools.cpp:60 (given back in between); KIND: atomicity-violation or order-violation
// SAYS: (first_|next)
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct MemoryPool {
  int number = 0;
  std::atomic<MemoryPool*> next{nullptr};
  std::array<char, 64> memory{};
  std::size_t used = 0;
  std::atomic<int> owner{0};

  char* allocate(std::size_t size) {
    if (used + size > memory.size()) return nullptr;
    char* at = memory.data() + used;
    used += size;
    return at;
  }
};

class RecycledPools {
 public:
  // Null: there is none.
  MemoryPool* take() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    MemoryPool* pool = first_.load();
    if (pool != nullptr) first_.store(pool->next.load());
    return pool;
#else
    for (;;) {
      MemoryPool* pool = first_.load();
      if (pool == nullptr) return nullptr;
      MemoryPool* next = pool->next.load();
      if (first_.compare_exchange_strong(pool, next)) return pool;
    }
#endif
  }
  void give_back(MemoryPool* pool) {
    pool->used = 0;
    pool->owner.store(0);
#ifdef FIXED
    std::lock_guard lock(mutex_);
    pool->next.store(first_.load());
    first_.store(pool);
#else
    MemoryPool* first = first_.load();
    do pool->next.store(first);
    while (!first_.compare_exchange_strong(first, pool));
#endif
  }

 private:
  std::atomic<MemoryPool*> first_{nullptr};
  [[maybe_unused]] std::mutex mutex_;
};

class Server {
 public:
  explicit Server(int pools) {
    for (int i = 0; i < pools; ++i) {
      all_.push_back(std::make_unique<MemoryPool>());
      all_.back()->number = i + 1;
      recycled_.give_back(all_.back().get());
    }
  }
  // Serves two connections at once, as a proxy does: the client's and that to the backend.
  void serve_proxied(int client) {
    MemoryPool* front = open(client);
    MemoryPool* back = open(client + 100);
    answer(front, client);
    close(front, client);
    answer(back, client + 100);
    close(back, client + 100);
  }
  void serve(int client) {
    MemoryPool* pool = open(client);
    answer(pool, client);
    close(pool, client);
  }
  [[nodiscard]] bool failed() const { return failed_.load(); }

 private:
  MemoryPool* open(int client) {
    MemoryPool* pool = recycled_.take();
    if (pool == nullptr) return nullptr;
    const int owner = pool->owner.exchange(client);
    if (owner != 0) {
      std::fprintf(stderr, "pool %d of client %d is given to client %d\n", pool->number, owner,
                   client);
      failed_.store(true);
    }
    return pool;
  }
  void answer(MemoryPool* pool, int client) {
    if (pool == nullptr) return;
    const std::string text = "hello " + std::to_string(client);
    if (char* at = pool->allocate(text.size() + 1)) std::memcpy(at, text.c_str(), text.size() + 1);
  }
  void close(MemoryPool* pool, int client) {
    if (pool == nullptr) return;
    if (pool->owner.load() != client) failed_.store(true);
    recycled_.give_back(pool);
  }

  std::vector<std::unique_ptr<MemoryPool>> all_;
  RecycledPools recycled_;
  std::atomic<bool> failed_{false};
};

}  // namespace

int main() {
  Server server(3);
  std::thread worker([&] {
    server.serve(1);
    server.serve_proxied(2);
  });
  std::thread proxy([&] { server.serve_proxied(3); });
  worker.join();
  proxy.join();
  return server.failed() ? 1 : 0;
}
