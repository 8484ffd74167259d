// Prices are asked for from several suppliers at once: std::async, futures, a supplier that fails throws. Who has the best quote is written by each
// task when it is better than what is there; looking and writing are two steps. An exception of one supplier is caught where its future is read.
// ROOT CAUSE: quotes.cpp:58 (compared), quotes.cpp:59 (written later); KIND: data-race or atomicity-violation
// SAYS: best_
#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Quote {
  std::string supplier;
  int price = 0;
};

class Supplier {
 public:
  explicit Supplier(std::string name) : name_(std::move(name)) {}
  virtual ~Supplier() = default;
  [[nodiscard]] virtual Quote ask(int item) const = 0;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

class Listed final : public Supplier {
 public:
  Listed(const std::string& name, std::map<int, int> prices)
      : Supplier(name), prices_(std::move(prices)) {}
  [[nodiscard]] Quote ask(int item) const override {
    const auto found = prices_.find(item);
    if (found == prices_.end())
      throw std::out_of_range(name() + " has no item " + std::to_string(item));
    return {name(), found->second};
  }

 private:
  std::map<int, int> prices_;
};

class Board {
 public:
  explicit Board(std::function<void(const Quote&)> listener) : listener_(std::move(listener)) {}
  void offer(const Quote& quote) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (best_ != 0 && best_ <= quote.price) return;
    best_ = quote.price;
#else
    if (best_ != 0 && best_ <= quote.price) return;
    best_ = quote.price;
#endif
    listener_(quote);
  }
  [[nodiscard]] int best() const { return best_; }

 private:
  [[maybe_unused]] std::mutex mutex_;
  std::function<void(const Quote&)> listener_;
  int best_ = 0;
};

class Purchase {
 public:
  Purchase() : board_([this](const Quote& quote) { note(quote); }) {
    suppliers_.push_back(std::make_unique<Listed>("north", std::map<int, int>{{1, 30}, {2, 12}}));
    suppliers_.push_back(std::make_unique<Listed>("south", std::map<int, int>{{2, 9}}));
    suppliers_.push_back(std::make_unique<Listed>("west", std::map<int, int>{{1, 25}, {2, 15}}));
  }
  int best_price(int item) {
    std::vector<std::future<int>> answers;
    for (const auto& supplier : suppliers_)
      answers.push_back(std::async(std::launch::async, [this, item, &supplier] {
        const Quote quote = supplier->ask(item);
        board_.offer(quote);
        return quote.price;
      }));
    int least = 0;
    for (auto& answer : answers) {
      try {
        const int price = answer.get();
        least = least == 0 || price < least ? price : least;
      } catch (const std::out_of_range&) {
        ++refused_;
      }
    }
    if (board_.best() != least)
      std::fprintf(stderr, "%d is told, %d was offered\n", board_.best(), least);
    return board_.best() == least ? least : -1;
  }

 private:
  void note(const Quote& quote) {
    std::lock_guard lock(mutex_);
    noted_.push_back(quote.supplier);
  }

  std::vector<std::unique_ptr<Supplier>> suppliers_;
  std::mutex mutex_;
  std::vector<std::string> noted_;
  Board board_;
  int refused_ = 0;
};

}  // namespace

int main() {
  Purchase purchase;
  return purchase.best_price(1) == 25 ? 0 : 1;
}
