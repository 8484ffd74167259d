// What the tests of suite.cpp are of: small components as a server has them. Five have a defect, which
// is marked; none of them shows in a sequential test.
#ifndef CLEW_BENCH_HUNT_SUITE_COMPONENTS_H_
#define CLEW_BENCH_HUNT_SUITE_COMPONENTS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace server {

inline std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i)
    if (i == text.size() || text[i] == by) {
      parts.emplace_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  return parts;
}

inline std::string trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

inline std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

// "name: value" lines.
class Headers {
 public:
  static Headers parse(std::string_view text) {
    Headers headers;
    for (const std::string& line : split(text, '\n')) {
      const auto colon = line.find(':');
      if (colon == std::string::npos) continue;
      headers.values_[lower(trim(line.substr(0, colon)))] = trim(line.substr(colon + 1));
    }
    return headers;
  }
  std::optional<std::string> get(const std::string& name) const {
    const auto found = values_.find(lower(name));
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::map<std::string, std::string> values_;
};

// Key and value lines, later ones count.
class Settings {
 public:
  void load(std::string_view text) {
    for (const std::string& line : split(text, '\n')) {
      const auto equals = line.find('=');
      if (equals == std::string::npos || line.front() == '#') continue;
      values_[trim(line.substr(0, equals))] = trim(line.substr(equals + 1));
    }
  }
  std::string text(const std::string& key, std::string otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::move(otherwise) : found->second;
  }
  long number(const std::string& key, long otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : std::stol(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t most) : most_(most) {}
  void push(T value) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < most_; });
    items_.push_back(std::move(value));
    not_empty_.notify_one();
  }
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty() || closed_; });
    if (items_.empty()) return std::nullopt;
    T value = std::move(items_.front());
    items_.pop_front();
    not_full_.notify_one();
    return value;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<T> items_;
  std::size_t most_;
  bool closed_ = false;
};

// One condition variable for both directions.
template <class T>
class Mailbox {
 public:
  void put(T value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !value_; });
    value_ = std::move(value);
    changed_.notify_one();  // DEFECT: may wake another that puts
  }
  T take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return value_.has_value(); });
    T value = std::move(*value_);
    value_.reset();
    changed_.notify_one();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
};

class Pool {
 public:
  explicit Pool(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() { stop(); }
  void post(std::function<void()> task) { tasks_.push(std::move(task)); }
  void stop() {
    tasks_.close();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  void work() {
    while (auto task = tasks_.pop()) (*task)();
  }
  BoundedQueue<std::function<void()>> tasks_{64};
  std::vector<std::thread> threads_;
};

template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t most) : most_(most) {}
  std::optional<Value> get(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = at_.find(key);
    if (found == at_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  void put(const Key& key, Value value) {
    const std::lock_guard lock(mutex_);
    if (const auto found = at_.find(key); found != at_.end()) {
      order_.erase(found->second);
      at_.erase(found);
    }
    order_.emplace_front(key, std::move(value));
    at_[key] = order_.begin();
    if (order_.size() <= most_) return;
    at_.erase(order_.back().first);
    order_.pop_back();
  }
  Value get_or(const Key& key, const std::function<Value()>& make) {
    if (auto found = get(key)) return *found;
    Value value = make();  // DEFECT: two threads may make it
    put(key, value);
    return value;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::list<std::pair<Key, Value>> order_;
  std::unordered_map<Key, typename std::list<std::pair<Key, Value>>::iterator> at_;
  std::size_t most_;
};

class Statistics {
 public:
  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  void miss() { misses_ = misses_ + 1; }  // DEFECT: not one step
  long hits() const { return hits_; }
  long misses() const { return misses_; }

 private:
  std::atomic<long> hits_ = 0;
  std::atomic<long> misses_ = 0;
};

class Account {
 public:
  explicit Account(long balance) : balance_(balance) {}
  bool withdraw(long amount) {
    const std::lock_guard lock(mutex_);
    if (balance_ < amount) return false;
    balance_ -= amount;
    return true;
  }
  void deposit(long amount) {
    const std::lock_guard lock(mutex_);
    balance_ += amount;
  }
  long balance() const {
    const std::lock_guard lock(mutex_);
    return balance_;
  }
  // DEFECT: each locks its own account first
  static void transfer(Account& from, Account& to, long amount) {
    const std::lock_guard one(from.mutex_);
    const std::lock_guard two(to.mutex_);
    from.balance_ -= amount;
    to.balance_ += amount;
  }
  static void transfer_in_order(Account& from, Account& to, long amount) {
    const std::scoped_lock both(from.mutex_, to.mutex_);
    from.balance_ -= amount;
    to.balance_ += amount;
  }

 private:
  mutable std::mutex mutex_;
  long balance_;
};

class Registry {
 public:
  void add(const std::string& name, int port) {
    const std::unique_lock lock(mutex_);
    ports_[name] = port;
  }
  void remove(const std::string& name) {
    const std::unique_lock lock(mutex_);
    ports_.erase(name);
  }
  bool has(const std::string& name) const {
    const std::shared_lock lock(mutex_);
    return ports_.contains(name);
  }
  int port(const std::string& name) const {
    const std::shared_lock lock(mutex_);
    return ports_.at(name);
  }
  int port_or(const std::string& name, int otherwise) const {
    return has(name) ? port(name) : otherwise;  // DEFECT: it may be removed in between
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, int> ports_;
};

class Latch {
 public:
  explicit Latch(int count) : count_(count) {}
  void arrive() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) done_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  int count_;
};

}  // namespace server

#endif  // CLEW_BENCH_HUNT_SUITE_COMPONENTS_H_
