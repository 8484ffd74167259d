// An auction. Closing a lot reads the best bid in one critical section and declares the winner in another: a bid that comes between is accepted, and
// does not win.
// ROOT CAUSE: auction_house.cpp:66 and auction_house.cpp:67 (should be one critical section), auction_house.cpp:40 (the bid between); KIND: atomicity-violation
// SAYS: between two steps of T0\.3
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Bid {
  std::string bidder;
  int amount = 0;
};

struct Lot {
  std::string title;
  std::vector<Bid> bids;
  std::optional<Bid> winner;
  bool closed = false;
};

class House {
 public:
  void offer(int id, const std::string& title) {
    std::lock_guard lock(mutex_);
    lots_[id].title = title;
  }

  bool bid(int id, const std::string& bidder, int amount) {
    std::lock_guard lock(mutex_);
    Lot& lot = lots_.at(id);
    if (lot.closed) return false;
    if (!lot.bids.empty() && lot.bids.back().amount >= amount) return false;
    lot.bids.push_back({bidder, amount});
    return true;
  }

  Bid best(int id) {
    std::lock_guard lock(mutex_);
    const Lot& lot = lots_.at(id);
    return lot.bids.empty() ? Bid{} : lot.bids.back();
  }

  void declare(int id, const Bid& bid) {
    std::lock_guard lock(mutex_);
    Lot& lot = lots_.at(id);
    lot.winner = bid;
    lot.closed = true;
  }

#ifdef FIXED
  void close(int id) {
    std::lock_guard lock(mutex_);
    Lot& lot = lots_.at(id);
    lot.winner = lot.bids.empty() ? Bid{} : lot.bids.back();
    lot.closed = true;
  }
#else
  void close(int id) {
    const Bid bid = best(id);
    declare(id, bid);
  }
#endif

  bool is_fair(int id) {
    std::lock_guard lock(mutex_);
    const Lot& lot = lots_.at(id);
    if (!lot.winner) return false;
    for (const Bid& bid : lot.bids)
      if (bid.amount > lot.winner->amount) return false;
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<int, Lot> lots_;
};

void play(House& house, const std::string& name, int first, int step) {
  for (int i = 0; i < 3; i++) house.bid(7, name, first + i * step);
}

}  // namespace

int main() {
  House house;
  house.offer(7, "a clock");
  house.bid(7, "reserve", 10);
  std::thread ann([&] { play(house, "ann", 20, 20); });
  std::thread ben([&] { play(house, "ben", 30, 20); });
  std::thread hammer([&] { house.close(7); });
  ann.join();
  ben.join();
  hammer.join();
  assert(house.is_fair(7));
  return 0;
}
