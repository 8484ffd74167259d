// An event bus: publishers send events of several topics to subscribers, who may leave at any time. The bus passes an event
// on by walking over the list of subscribers by index, with the lock released while each of them handles it; if one
// that was passed already leaves meanwhile, the others move up, and the next is skipped. Exits with 1 if a
// subscriber that stayed to the end has missed an event.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Event {
  int topic = 0;
  int number = 0;
};

class Subscriber {
 public:
  Subscriber(int name, int topic) : name_(name), topic_(topic) {}
  virtual ~Subscriber() = default;

  int name() const { return name_; }
  bool wants(const Event& event) const { return topic_ < 0 || event.topic == topic_; }
  void deliver(const Event& event) {
    if (!wants(event)) {
      return;
    }
    ++received_;
    handle(event);
  }
  int received() const { return received_; }

 protected:
  virtual void handle(const Event& event) = 0;

 private:
  const int name_;
  const int topic_;
  std::atomic<int> received_{0};
};

// Keeps the last few.
class Recorder final : public Subscriber {
 public:
  using Subscriber::Subscriber;

 private:
  void handle(const Event& event) override {
    std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(event);
    if (events_.size() > 4) {
      events_.pop_front();
    }
  }
  std::mutex mutex_;
  std::deque<Event> events_;
};

class Adder final : public Subscriber {
 public:
  using Subscriber::Subscriber;

 private:
  void handle(const Event& event) override { sum_ += event.number; }
  std::atomic<int> sum_{0};
};

class Bus {
 public:
  void subscribe(const std::shared_ptr<Subscriber>& subscriber) {
    std::lock_guard<std::mutex> lock(mutex_);
    subscribers_.push_back(subscriber);
  }
  bool unsubscribe(const Subscriber& subscriber) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < subscribers_.size(); ++i) {
      if (subscribers_[i].get() == &subscriber) {
        subscribers_.erase(subscribers_.begin() + static_cast<long>(i));
        return true;
      }
    }
    return false;
  }
  void publish(const Event& event) {
    count(event);
#ifdef FIXED
    std::vector<std::shared_ptr<Subscriber>> all;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      all = subscribers_;
    }
    for (const auto& subscriber : all) {
      subscriber->deliver(event);
    }
#else
    for (std::size_t i = 0;; ++i) {
      const std::shared_ptr<Subscriber> subscriber = at(i);
      if (subscriber == nullptr) {
        break;
      }
      subscriber->deliver(event);
    }
#endif
  }
  int published() {
    std::lock_guard<std::mutex> lock(mutex_);
    return published_;
  }

 private:
  std::shared_ptr<Subscriber> at(std::size_t i) {
    std::lock_guard<std::mutex> lock(mutex_);
    return i < subscribers_.size() ? subscribers_[i] : nullptr;
  }
  void count(const Event& event) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++published_;
    last_ = event;
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  int published_ = 0;
  Event last_;
};

class Publisher {
 public:
  Publisher(Bus& bus, int topic, int events) : bus_(bus), topic_(topic), events_(events) {}
  void start() { thread_ = std::thread(&Publisher::run, this); }
  void join() { thread_.join(); }

 private:
  void run() {
    for (int i = 0; i < events_; ++i) {
      bus_.publish({topic_, i});
    }
  }
  Bus& bus_;
  const int topic_;
  const int events_;
  std::thread thread_;
};

// Leaves after a while.
void visit(Bus& bus, const std::shared_ptr<Subscriber>& subscriber, int patience) {
  for (int i = 0; i < patience; ++i) {
    if (subscriber->received() > 2) {
      break;
    }
    std::this_thread::yield();
  }
  if (!bus.unsubscribe(*subscriber)) {
    std::fprintf(stderr, "subscriber %d was not there\n", subscriber->name());
  }
}

bool has_missed(const Subscriber& subscriber, int expected) {
  if (subscriber.received() == expected) {
    return false;
  }
  std::printf("subscriber %d has received %d of %d events\n", subscriber.name(),
              subscriber.received(), expected);
  return true;
}

int main() {
  constexpr int kEvents = 6;
  Bus bus;
  const auto visitor = std::make_shared<Adder>(1, -1);
  const auto recorder = std::make_shared<Recorder>(2, -1);
  const auto adder = std::make_shared<Adder>(3, 1);
  bus.subscribe(visitor);
  bus.subscribe(recorder);
  bus.subscribe(adder);
  Publisher first(bus, 0, kEvents);
  Publisher second(bus, 1, kEvents);
  first.start();
  second.start();
  std::thread leaving(visit, std::ref(bus), visitor, 20);
  first.join();
  second.join();
  leaving.join();
  int wrong = 0;
  wrong += has_missed(*recorder, 2 * kEvents) ? 1 : 0;
  wrong += has_missed(*adder, kEvents) ? 1 : 0;
  std::printf("%d events\n", bus.published());
  return wrong == 0 ? 0 : 1;
}
