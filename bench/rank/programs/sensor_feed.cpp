// Sensors deliver readings into a small buffer, workers take them, smooth them and pass them to a sink. The buffer
// has one condition for "there is room" and "there is something", and Buffer::put waits with `if` instead of
// `while`: a sensor that is woken when there is no room overwrites a reading that nobody has taken. Exits with 1
// if readings are missing in the sink.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Reading {
  int sensor = -1;
  int number = 0;
  int value = 0;
};

class Buffer {
 public:
  void put(const Reading& reading) {
    std::unique_lock<std::mutex> lock(mutex_);
#ifdef FIXED
    while (used_ == kRoom) {
#else
    if (used_ == kRoom) {
#endif
      changed_.wait(lock);
    }
    store(reading);
    changed_.notify_all();
  }
  // False: there will be none any more.
  bool take(Reading& reading) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (used_ == 0 && sensors_ > 0) {
      changed_.wait(lock);
    }
    if (used_ == 0) {
      return false;
    }
    reading = readings_[first_];
    first_ = next(first_);
    --used_;
    changed_.notify_all();
    return true;
  }
  void add_sensor() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++sensors_;
  }
  void remove_sensor() {
    std::lock_guard<std::mutex> lock(mutex_);
    --sensors_;
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kRoom = 2;
  static std::size_t next(std::size_t at) { return (at + 1) % kRoom; }
  void store(const Reading& reading) {
    readings_[end_] = reading;
    end_ = next(end_);
    if (used_ < kRoom) {
      ++used_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Reading, kRoom> readings_;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::size_t used_ = 0;
  int sensors_ = 0;
};

// The mean of the last few values.
class Smoother {
 public:
  int smooth(int value) {
    values_.push_back(value);
    if (values_.size() > 3) {
      values_.erase(values_.begin());
    }
    int sum = 0;
    for (const int one : values_) {
      sum += one;
    }
    return sum / static_cast<int>(values_.size());
  }

 private:
  std::vector<int> values_;
};

class Sink {
 public:
  void accept(const Reading& reading, int smooth) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++accepted_[reading.sensor];
    if (smooth > highest_) {
      highest_ = smooth;
    }
  }
  int accepted(int sensor) {
    std::lock_guard<std::mutex> lock(mutex_);
    return accepted_[sensor];
  }
  int highest() {
    std::lock_guard<std::mutex> lock(mutex_);
    return highest_;
  }

 private:
  std::mutex mutex_;
  std::map<int, int> accepted_;
  int highest_ = 0;
};

class Sensor {
 public:
  Sensor(Buffer& buffer, int number, int readings)
      : buffer_(buffer), number_(number), readings_(readings) {}
  void start() {
    buffer_.add_sensor();
    thread_ = std::thread(&Sensor::run, this);
  }
  void join() { thread_.join(); }
  int number() const { return number_; }
  int readings() const { return readings_; }

 private:
  void run() {
    for (int i = 0; i < readings_; ++i) {
      buffer_.put({number_, i, measure(i)});
    }
    buffer_.remove_sensor();
  }
  int measure(int i) const { return (number_ * 37 + i * 11) % 50; }

  Buffer& buffer_;
  const int number_;
  const int readings_;
  std::thread thread_;
};

class Worker {
 public:
  Worker(Buffer& buffer, Sink& sink) : buffer_(buffer), sink_(sink) {}
  void start() { thread_ = std::thread(&Worker::run, this); }
  void join() { thread_.join(); }

 private:
  void run() {
    Reading reading;
    while (buffer_.take(reading)) {
      process(reading);
    }
  }
  void process(const Reading& reading) {
    const int smooth = smoother_.smooth(reading.value);
    sink_.accept(reading, smooth);
  }

  Buffer& buffer_;
  Sink& sink_;
  Smoother smoother_;
  std::thread thread_;
};

int count_missing(const std::vector<std::unique_ptr<Sensor>>& sensors, Sink& sink) {
  int missing = 0;
  for (const auto& sensor : sensors) {
    const int lost = sensor->readings() - sink.accepted(sensor->number());
    if (lost != 0) {
      std::printf("sensor %d: %d readings are missing\n", sensor->number(), lost);
      missing += lost;
    }
  }
  return missing;
}

int main() {
  Buffer buffer;
  Sink sink;
  std::vector<std::unique_ptr<Sensor>> sensors;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 3; ++i) {
    sensors.push_back(std::make_unique<Sensor>(buffer, i, 3));
    sensors.back()->start();
  }
  for (int i = 0; i < 2; ++i) {
    workers.push_back(std::make_unique<Worker>(buffer, sink));
    workers.back()->start();
  }
  for (const auto& sensor : sensors) {
    sensor->join();
  }
  for (const auto& worker : workers) {
    worker->join();
  }
  const int missing = count_missing(sensors, sink);
  std::printf("highest %d, %d missing\n", sink.highest(), missing);
  return missing == 0 ? 0 : 1;
}
