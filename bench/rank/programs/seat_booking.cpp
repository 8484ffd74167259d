// A box office with three counters. A counter looks for a free seat, takes the payment, and marks the seat as sold. The look
// and the mark hold the lock each, both together do not: two counters may sell the same seat. Exits with 1 if fewer seats
// are sold than tickets were printed.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Ticket {
  int seat = -1;
  int price = 0;
  std::string buyer;
};

// The hall: which seats are sold.
class Hall {
 public:
  explicit Hall(int seats) : sold_(static_cast<std::size_t>(seats), false) {}
  // -1: there is none.
  int first_free() const {
    for (std::size_t i = 0; i < sold_.size(); ++i) {
      if (!sold_[i]) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }
  void mark_sold(int seat) { sold_[static_cast<std::size_t>(seat)] = true; }
  int count_sold() const {
    int count = 0;
    for (const bool sold : sold_) {
      count += sold ? 1 : 0;
    }
    return count;
  }

 private:
  std::vector<bool> sold_;
};

class PriceList {
 public:
  int price_of(int seat) const { return seat < 4 ? 30 : seat < 8 ? 20 : 12; }
  int reduced(int price) const { return price - price / 4; }
};

class CashRegister {
 public:
  bool take(const std::string& buyer, int price) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (price <= 0) {
      return false;
    }
    takings_[buyer] += price;
    ++payments_;
    return true;
  }
  int total() {
    std::lock_guard<std::mutex> lock(mutex_);
    int sum = 0;
    for (const auto& [buyer, amount] : takings_) {
      sum += amount;
    }
    return sum;
  }
  int payments() const { return payments_; }

 private:
  std::mutex mutex_;
  std::map<std::string, int> takings_;
  int payments_ = 0;
};

class BoxOffice {
 public:
  explicit BoxOffice(int seats) : hall_(seats) {}
  bool book(const std::string& buyer, bool is_student);
  int sold() {
    std::lock_guard<std::mutex> lock(mutex_);
    return hall_.count_sold();
  }
  std::size_t tickets() {
    std::lock_guard<std::mutex> lock(mutex_);
    return tickets_.size();
  }
  int takings() { return cash_.total(); }

 private:
  void print(const Ticket& ticket);
  int find_seat();
  void sell(int seat);
  Hall hall_;
  PriceList prices_;
  CashRegister cash_;
  std::mutex mutex_;
  std::recursive_mutex counter_;
  std::vector<Ticket> tickets_;
};

int BoxOffice::find_seat() {
  std::lock_guard<std::mutex> lock(mutex_);
  return hall_.first_free();
}

void BoxOffice::sell(int seat) {
  std::lock_guard<std::mutex> lock(mutex_);
  hall_.mark_sold(seat);
}

void BoxOffice::print(const Ticket& ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  tickets_.push_back(ticket);
}

bool BoxOffice::book(const std::string& buyer, bool is_student) {
#ifdef FIXED
  std::lock_guard<std::recursive_mutex> lock(counter_);
#endif
  const int seat = find_seat();
  if (seat < 0) {
    return false;
  }
  int price = prices_.price_of(seat);
  if (is_student) {
    price = prices_.reduced(price);
  }
  if (!cash_.take(buyer, price)) {
    return false;
  }
  sell(seat);
  print({seat, price, buyer});
  return true;
}

void serve_queue(BoxOffice& office, int counter, int people) {
  for (int i = 0; i < people; ++i) {
    const std::string buyer = "person " + std::to_string(counter * 100 + i);
    if (!office.book(buyer, i % 3 == 0)) {
      return;
    }
  }
}

int main() {
  BoxOffice office(14);
  std::vector<std::thread> counters;
  for (int i = 0; i < 3; ++i) {
    counters.emplace_back(serve_queue, std::ref(office), i, 3);
  }
  for (std::thread& counter : counters) {
    counter.join();
  }
  const int sold = office.sold();
  const int tickets = static_cast<int>(office.tickets());
  std::printf("%d tickets for %d seats, %d in the register\n", tickets, sold, office.takings());
  return tickets == sold ? 0 : 1;
}
