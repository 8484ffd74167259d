// A report of the day. What is left in stock is read under one lock and written under another, so that one of two sales is lost; only the
// report shows it, and the program ends as if nothing had happened.
// ROOT CAUSE: report_output.cpp:24, report_output.cpp:28 (read, and written under the lock taken again); KIND: atomicity-violation
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Sale {
  std::string article;
  int count;
};

class Shop {
 public:
  explicit Shop(int stock) : stock_(stock) {}

  bool sell(const std::string& article, int count) {
    int before;
    {
      const std::scoped_lock lock(mutex_);
      // The other seller may come before this one writes.
      before = stock_;
    }
    if (before < count) return false;
    const std::scoped_lock lock(mutex_);
    stock_ = before - count;
    sales_.push_back({article, count});
    return true;
  }

  void report() const {
    std::printf("report of the day\n");
    std::printf("%zu sales\n", sales_.size());
    std::printf("left: %d\n", stock_);
    if (stock_ < 4) std::printf("to be ordered\n");
    std::printf("end of report\n");
  }

 private:
  std::mutex mutex_;
  int stock_;
  std::vector<Sale> sales_;
};

int main() {
  Shop shop(10);
  std::thread one([&] { shop.sell("lamp", 3); });
  std::thread two([&] { shop.sell("chair", 4); });
  one.join();
  two.join();
  shop.report();
  return 0;
}
