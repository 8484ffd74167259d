// A fleet of lorries with two indexes, each under a lock of its own: where a lorry is, and how many there are at a depot. A transfer changes both, one after
// the other; an audit that comes between sees a lorry at a depot that does not count it.
// ROOT CAUSE: two_fields.cpp:79 and two_fields.cpp:81 (two changes that belong together), two_fields.cpp:89 (an audit in between); KIND: atomicity-violation
// SAYS: T0\.\d sees .* new, at .* old, at .* the other only later
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Lorry {
  std::string plate;
  int depot = 0;
  int load = 0;
};

class Positions {
 public:
  void add(const Lorry& lorry) {
    std::lock_guard lock(mutex_);
    lorries_[lorry.plate] = lorry;
  }
  int move(const std::string& plate, int to) {
    std::lock_guard lock(mutex_);
    Lorry& lorry = lorries_.at(plate);
    const int from = lorry.depot;
    lorry.depot = to;
    return from;
  }
  int at(int depot) {
    std::lock_guard lock(mutex_);
    int count = 0;
    for (const auto& [plate, lorry] : lorries_) count += lorry.depot == depot;
    return count;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Lorry> lorries_;
};

class Depots {
 public:
  explicit Depots(std::size_t count) : counts_(count, 0) {}
  void arrive(int depot) {
    std::lock_guard lock(mutex_);
    counts_[static_cast<std::size_t>(depot)]++;
  }
  void leave(int depot) {
    std::lock_guard lock(mutex_);
    counts_[static_cast<std::size_t>(depot)]--;
  }
  int count(int depot) {
    std::lock_guard lock(mutex_);
    return counts_[static_cast<std::size_t>(depot)];
  }

 private:
  std::mutex mutex_;
  std::vector<int> counts_;
};

class Fleet {
 public:
  explicit Fleet(std::size_t depots) : depots_(depots) {}

  void buy(const std::string& plate, int depot) {
    positions_.add({plate, depot, 0});
    depots_.arrive(depot);
  }

  void transfer(const std::string& plate, int to) {
#ifdef FIXED
    std::lock_guard lock(both_);
#endif
    const int from = positions_.move(plate, to);
    depots_.leave(from);
    depots_.arrive(to);
  }

  bool audit(int depot) {
#ifdef FIXED
    std::lock_guard lock(both_);
#endif
    const int present = positions_.at(depot);
    return present == depots_.count(depot);
  }

 private:
#ifdef FIXED
  std::mutex both_;
#endif
  Positions positions_;
  Depots depots_;
};

struct Order {
  std::string plate;
  int to = 0;
};

void drive(Fleet& fleet, const std::vector<Order>& orders) {
  for (const Order& order : orders) fleet.transfer(order.plate, order.to);
}

int inspect(Fleet& fleet, int depots) {
  int wrong = 0;
  for (int depot = 0; depot < depots; depot++) wrong += !fleet.audit(depot);
  return wrong;
}

}  // namespace

int main() {
  Fleet fleet(3);
  fleet.buy("AB 1", 0);
  fleet.buy("CD 2", 1);
  fleet.buy("EF 3", 2);
  int wrong = 0;
  std::thread dispatcher([&] { drive(fleet, {{"AB 1", 1}, {"EF 3", 0}}); });
  std::thread inspector([&] { wrong = inspect(fleet, 3); });
  dispatcher.join();
  inspector.join();
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
