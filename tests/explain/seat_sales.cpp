// Seats are sold without a lock: the count of free seats is lowered by compare_exchange_weak, once. A weak exchange may
// fail though nobody else was there, and then the sale is refused though seats are free.
// ROOT CAUSE: seat_sales.cpp:28; KIND: choice
// SAYS: the weak compare-exchange of T0\.\d of `office.\w+_.free_` at seat_sales.cpp:\d+ .*fails spuriously; in the passing run it does not
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

class Hall {
 public:
  explicit Hall(int seats) : free_(seats), seats_(seats) {}

  enum class Sale { kSold, kFull, kBusy };

  // Only one clerk sells for each hall: nobody else changes the number meanwhile.
  Sale sell(int number) {
    int seen = free_.load(std::memory_order_acquire);
    if (seen < number) {
      ++refused_;
      return Sale::kFull;
    }
    const int left = seen - number;
#ifdef FIXED
    if (!free_.compare_exchange_strong(seen, left, std::memory_order_acq_rel)) {
#else
    if (!free_.compare_exchange_weak(seen, left, std::memory_order_acq_rel)) {
#endif
      ++refused_;
      return Sale::kBusy;
    }
    sold_ += number;
    return Sale::kSold;
  }

  int sold() const { return sold_; }
  int free() const { return free_.load(); }
  int seats() const { return seats_; }

 private:
  std::atomic<int> free_;
  int seats_;
  int sold_ = 0;
  int refused_ = 0;
};

class Clerk {
 public:
  Clerk(Hall& hall, std::vector<int> orders) : hall_(hall), orders_(std::move(orders)) {}
  void work() {
    for (const int order : orders_) {
      const Hall::Sale sale = hall_.sell(order);
      if (sale != Hall::Sale::kSold) ++turned_away_;
    }
  }
  int turned_away() const { return turned_away_; }

 private:
  Hall& hall_;
  std::vector<int> orders_;
  int turned_away_ = 0;
};

class BoxOffice {
 public:
  BoxOffice() : opera_(10), cinema_(6), first_(opera_, {4, 3, 2}), second_(cinema_, {2, 2, 1}) {}
  void open() {
    std::thread a([this] { first_.work(); });
    std::thread b([this] { second_.work(); });
    a.join();
    b.join();
  }
  int revenue() const { return 50 * opera_.sold() + 12 * cinema_.sold(); }

 private:
  Hall opera_;
  Hall cinema_;
  Clerk first_;
  Clerk second_;
};

int main() {
  BoxOffice office;
  office.open();
  const int expected = 50 * 9 + 12 * 5;
  if (office.revenue() != expected) {
    std::fprintf(stderr, "revenue %d, expected %d\n", office.revenue(), expected);
    return 1;
  }
  std::puts("all sold");
  return 0;
}
