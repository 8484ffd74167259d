// A sensor hub calls back whoever has subscribed. A dialog subscribes with a lambda that captures itself, and unsubscribes when it is destroyed; the hub
// copies its list of callbacks under the lock and calls them without it, so a dialog may be called after its end.
// ROOT CAUSE: callbacks.cpp:46 (the callbacks are copied), callbacks.cpp:136 (the dialog is destroyed); KIND: order-violation
// SAYS: after T0 has freed that memory at callbacks.cpp
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Reading {
  int channel = 0;
  double value = 0;
};

using Callback = std::function<void(const Reading&)>;

class Hub {
 public:
  int subscribe(Callback callback) {
    std::lock_guard lock(mutex_);
    callbacks_[++last_id_] = std::move(callback);
    return last_id_;
  }

  void unsubscribe(int id) {
#ifdef FIXED
    std::lock_guard calling(calling_);
#endif
    std::lock_guard lock(mutex_);
    callbacks_.erase(id);
  }

  void publish(const Reading& reading) {
#ifdef FIXED
    std::lock_guard calling(calling_);
#endif
    std::vector<Callback> now;
    {
      std::lock_guard lock(mutex_);
      for (const auto& [id, callback] : callbacks_) now.push_back(callback);
    }
    for (const Callback& callback : now) callback(reading);
  }

 private:
  std::mutex mutex_;
#ifdef FIXED
  std::mutex calling_;
#endif
  std::map<int, Callback> callbacks_;
  int last_id_ = 0;
};

class Chart {
 public:
  explicit Chart(std::size_t width) : width_(width) {}
  void add(double value) {
    points_.push_back(value);
    if (points_.size() > width_) points_.erase(points_.begin());
  }
  double highest() const {
    double result = 0;
    for (double point : points_)
      if (point > result) result = point;
    return result;
  }

 private:
  std::size_t width_;
  std::vector<double> points_;
};

class Dialog {
 public:
  Dialog(Hub& hub, std::string title)
      : hub_(hub), title_(std::move(title)), chart_(std::make_unique<Chart>(4)) {
    id_ = hub_.subscribe([this](const Reading& reading) { show(reading); });
  }
  ~Dialog() { hub_.unsubscribe(id_); }

  double highest() const { return chart_->highest(); }

 private:
  void show(const Reading& reading) {
    if (reading.channel != 0) return;
    chart_->add(reading.value);
  }

  Hub& hub_;
  std::string title_;
  std::unique_ptr<Chart> chart_;
  int id_ = 0;
};

class Logger {
 public:
  explicit Logger(Hub& hub) : hub_(hub) {
    id_ = hub_.subscribe([this](const Reading&) { count_++; });
  }
  ~Logger() { hub_.unsubscribe(id_); }
  int count() const { return count_; }

 private:
  Hub& hub_;
  int count_ = 0;
  int id_ = 0;
};

class Sensor {
 public:
  Sensor(Hub& hub, std::vector<Reading> readings) : hub_(hub), readings_(std::move(readings)) {}
  void run() {
    for (const Reading& reading : readings_) hub_.publish(reading);
  }

 private:
  Hub& hub_;
  std::vector<Reading> readings_;
};

}  // namespace

int main() {
  Hub hub;
  Logger logger(hub);
  Sensor sensor(hub, {{0, 1.5}, {1, 2.5}, {0, 3.5}});
  auto dialog = std::make_unique<Dialog>(hub, "pressure");
  std::thread source([&] { sensor.run(); });
  const bool shown = dialog != nullptr;
  dialog.reset();
  source.join();
  std::printf("%d readings, shown: %d\n", logger.count(), shown);
  return logger.count() == 3 ? 0 : 1;
}
