// A ferry with places for two: cars wait to board and the ferryman waits until it is full. All wait at one condition, and
// Ferry::board wakes one of them: if that is another car, the ferryman is never told that the ferry is full (deadlock).
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Car {
  int number = 0;
  int length = 4;
};

class Toll {
 public:
  int price(const Car& car) const { return base() + surcharge(car.length); }

 private:
  static int base() { return 10; }
  static int surcharge(int length) { return length > 4 ? (length - 4) * 2 : 0; }
};

class Logbook {
 public:
  void note(const std::string& line) { lines_.push_back(line); }
  std::size_t lines() const { return lines_.size(); }

 private:
  std::vector<std::string> lines_;
};

class Ferry {
 public:
  explicit Ferry(int places) : places_(places) {}
  void board(const Car& car);
  void depart() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!is_full()) {
      changed_.wait(lock);
    }
    cross();
    changed_.notify_all();
  }
  int carried() {
    std::lock_guard<std::mutex> lock(mutex_);
    return carried_;
  }
  int takings() {
    std::lock_guard<std::mutex> lock(mutex_);
    return takings_;
  }

 private:
  bool is_full() const { return aboard_ == places_; }
  void load(const Car& car) {
    ++aboard_;
    takings_ += toll_.price(car);
    logbook_.note("car " + std::to_string(car.number));
  }
  void cross() {
    carried_ += aboard_;
    aboard_ = 0;
    logbook_.note("crossing");
  }
  void announce() {
#ifdef FIXED
    changed_.notify_all();
#else
    changed_.notify_one();
#endif
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  Toll toll_;
  Logbook logbook_;
  int places_;
  int aboard_ = 0;
  int carried_ = 0;
  int takings_ = 0;
};

void Ferry::board(const Car& car) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (is_full()) {
    changed_.wait(lock);
  }
  load(car);
  announce();
}

class Driver {
 public:
  Driver(Ferry& ferry, int number) : ferry_(ferry) {
    car_.number = number;
    car_.length = 3 + number % 3;
  }
  void run() { ferry_.board(car_); }

 private:
  Ferry& ferry_;
  Car car_;
};

class Ferryman {
 public:
  Ferryman(Ferry& ferry, int trips) : ferry_(ferry), trips_(trips) {}
  void run() {
    for (int i = 0; i < trips_; ++i) {
      ferry_.depart();
    }
  }

 private:
  Ferry& ferry_;
  int trips_;
};

int main() {
  Ferry ferry(2);
  Ferryman ferryman(ferry, 3);
  std::vector<Driver> drivers;
  for (int i = 0; i < 6; ++i) {
    drivers.emplace_back(ferry, i);
  }
  std::vector<std::thread> threads;
  threads.emplace_back(&Ferryman::run, &ferryman);
  for (Driver& driver : drivers) {
    threads.emplace_back(&Driver::run, &driver);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (ferry.carried() != 6 || ferry.takings() < 60) {
    std::printf("%d cars carried\n", ferry.carried());
    return 1;
  }
  return 0;
}
