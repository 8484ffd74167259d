// Orders of a shop, served by a pool of workers: each order is a task that reserves items in the warehouse, charges the customer and writes an
// invoice. `reserve` looks under the lock whether there is enough and takes it in a second critical section: two orders for the last items both
// find them. Which worker serves which order differs from run to run, and has nothing to do with it.
// ROOT CAUSE: orders.cpp:93 (looked whether there is enough), orders.cpp:97 (taken later); KIND: atomicity-violation
// SAYS: stock_|quantity
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

struct Order {
  int number = 0;
  std::string customer;
  std::string item;
  int quantity = 0;
  int price = 0;
};

class Warehouse {
 public:
  void put(const std::string& item, int quantity) {
    std::lock_guard lock(mutex_);
    stock_[item] += quantity;
  }
  // False: there is not enough.
  bool reserve(const std::string& item, int quantity) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    int& there = stock_[item];
    if (there < quantity) return false;
    there -= quantity;
    return true;
#else
    if (!has(item, quantity)) return false;
    take(item, quantity);
    return true;
#endif
  }
  bool has(const std::string& item, int quantity) {
    std::lock_guard lock(mutex_);
    const auto found = stock_.find(item);
    return found != stock_.end() && found->second >= quantity;
  }
  void take(const std::string& item, int quantity) {
    std::lock_guard lock(mutex_);
    stock_[item] -= quantity;
  }
  std::vector<std::pair<std::string, int>> inventory() {
    std::lock_guard lock(mutex_);
    return {stock_.begin(), stock_.end()};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> stock_;
};

class Accounts {
 public:
  void charge(const std::string& customer, int amount) {
    std::lock_guard lock(mutex_);
    owed_[customer] += amount;
    total_ += amount;
  }
  int total() {
    std::lock_guard lock(mutex_);
    return total_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> owed_;
  int total_ = 0;
};

class Shop {
 public:
  Shop() {
    warehouse_.put("lamp", 3);
    warehouse_.put("chair", 5);
    warehouse_.put("table", 1);
  }
  void serve(const Order& order) {
    const int price = discounted(order);
    if (!warehouse_.reserve(order.item, order.quantity)) {
      invoice(order, "sold out");
      return;
    }
    accounts_.charge(order.customer, price * order.quantity);
    invoice(order, "shipped");
  }
  bool is_sound() {
    for (const auto& [item, quantity] : warehouse_.inventory())
      if (quantity < 0) {
        std::fprintf(stderr, "%s: %d left\n", item.c_str(), quantity);
        return false;
      }
    return invoices_.size() == expected_;
  }
  void expect(std::size_t orders) { expected_ = orders; }

 private:
  static int discounted(const Order& order) {
    int price = order.price;
    for (int i = 1; i < order.quantity; ++i) price -= price / 20;
    return price;
  }
  void invoice(const Order& order, const char* state) {
    const std::string text =
        "order " + std::to_string(order.number) + " of " + order.customer + ": " + state;
    std::lock_guard lock(mutex_);
    invoices_[order.number] = text;
  }

  Warehouse warehouse_;
  Accounts accounts_;
  std::mutex mutex_;
  std::map<int, std::string> invoices_;
  std::size_t expected_ = 0;
};

std::vector<Order> orders_of_today() {
  return {{1, "ada", "chair", 2, 40},  {2, "bob", "lamp", 2, 25},   {3, "cy", "table", 1, 90},
          {4, "dora", "lamp", 2, 25},  {5, "emil", "chair", 1, 40}, {6, "fritz", "table", 1, 90},
          {7, "greta", "chair", 1, 40}};
}

}  // namespace

int main() {
  Shop shop;
  const std::vector<Order> orders = orders_of_today();
  shop.expect(orders.size());
  {
    Pool pool(3);
    for (const Order& order : orders) pool.submit([&shop, order] { shop.serve(order); });
  }
  return shop.is_sound() ? 0 : 1;
}
