// A depot with room for a few parcels. Carriers bring, couriers fetch; both wait on one condition variable, and a notification
// may wake one of either kind.
// ROOT CAUSE: depot.cpp:26 (notify_one, with two kinds of waiters), depot.cpp:19; KIND: lost-wakeup
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Depot {
 public:
  explicit Depot(std::size_t room) : room_(room) {}
  void bring(std::string parcel) {
    std::unique_lock lock(mutex_);
    while (parcels_.size() == room_) changed_.wait(lock);
    parcels_.push_back(std::move(parcel));
    changed_.notify_one();
  }
  std::string fetch() {
    std::unique_lock lock(mutex_);
    while (parcels_.empty()) changed_.wait(lock);
    std::string parcel = std::move(parcels_.front());
    parcels_.pop_front();
    changed_.notify_one();
    return parcel;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> parcels_;
  std::size_t room_;
};

class Carrier {
 public:
  Carrier(Depot& depot, int id, int count) : depot_(depot), id_(id), count_(count) {}
  void run() {
    for (int i = 0; i < count_; ++i) depot_.bring(std::to_string(id_) + ":" + std::to_string(i));
  }

 private:
  Depot& depot_;
  int id_, count_;
};

class Courier {
 public:
  Courier(Depot& depot, int count) : depot_(depot), count_(count) {}
  void run() {
    for (int i = 0; i < count_; ++i) length_ += depot_.fetch().size();
  }
  std::size_t length() const { return length_; }

 private:
  Depot& depot_;
  int count_;
  std::size_t length_ = 0;
};

int main() {
  Depot depot(1);
  std::vector<Carrier> carriers{{depot, 1, 2}, {depot, 2, 2}};
  std::vector<Courier> couriers{{depot, 2}, {depot, 2}};
  std::vector<std::thread> threads;
  for (auto& courier : couriers) threads.emplace_back([&] { courier.run(); });
  for (auto& carrier : carriers) threads.emplace_back([&] { carrier.run(); });
  for (auto& thread : threads) thread.join();
  std::printf("%zu\n", couriers[0].length() + couriers[1].length());
  return 0;
}
