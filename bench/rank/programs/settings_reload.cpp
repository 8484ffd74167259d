// A service with settings that are reloaded while clients ask. Store::reload changes the rate and the unit that it is in one after
// the other, each under the lock: a client that asks in between computes with a rate of one version in the unit of another. Exits
// with 1 if a price was neither that of the old settings nor that of the new ones.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Settings {
  int rate = 0;
  int unit = 1;
};

class Parser {
 public:
  Settings parse(const std::string& text) const {
    Settings settings;
    settings.rate = number_after(text, "rate=");
    settings.unit = number_after(text, "unit=");
    return settings;
  }

 private:
  static int number_after(const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key);
    int value = 0;
    for (std::size_t i = at + key.size();
         at != std::string::npos && i < text.size() && is_digit(text[i]); ++i) {
      value = value * 10 + (text[i] - '0');
    }
    return value;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
};

class Store {
 public:
  explicit Store(const Settings& settings) : settings_(settings) {}
  void reload(const std::string& text);
  Settings get() {
    std::lock_guard<std::mutex> lock(mutex_);
    return settings_;
  }
  int version() {
    std::lock_guard<std::mutex> lock(mutex_);
    return version_;
  }

 private:
  void set_rate(int rate) {
    std::lock_guard<std::mutex> lock(mutex_);
    settings_.rate = rate;
  }
  void set_unit(int unit) {
    std::lock_guard<std::mutex> lock(mutex_);
    settings_.unit = unit;
  }
  void set_both(const Settings& settings) {
    std::lock_guard<std::mutex> lock(mutex_);
    settings_ = settings;
  }
  void count() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++version_;
  }
  Parser parser_;
  std::mutex mutex_;
  Settings settings_;
  int version_ = 1;
};

void Store::reload(const std::string& text) {
  const Settings settings = parser_.parse(text);
#ifdef FIXED
  set_both(settings);
#else
  set_rate(settings.rate);
  set_unit(settings.unit);
#endif
  count();
}

class Ledger {
 public:
  void add(int client, int price) {
    std::lock_guard<std::mutex> lock(mutex_);
    prices_[client].push_back(price);
  }
  int count_other_than(int one, int other) const {
    int count = 0;
    for (const auto& [client, prices] : prices_) {
      for (const int price : prices) {
        count += price == one || price == other ? 0 : 1;
      }
    }
    return count;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<int>> prices_;
};

class Pricing {
 public:
  int price(const Settings& settings, int amount) const {
    return rounded(amount * settings.rate, settings.unit);
  }

 private:
  static int rounded(int cents, int unit) { return (cents + unit / 2) / unit; }
};

class Client {
 public:
  Client(int number, Store& store, Ledger& ledger)
      : number_(number), store_(store), ledger_(ledger) {}
  void run() {
    for (int i = 0; i < 3; ++i) {
      ask();
    }
  }

 private:
  void ask() { ledger_.add(number_, pricing_.price(store_.get(), 60)); }
  int number_;
  Store& store_;
  Ledger& ledger_;
  Pricing pricing_;
};

class Operator {
 public:
  explicit Operator(Store& store) : store_(store) {}
  void run() { store_.reload("unit=100 rate=250"); }

 private:
  Store& store_;
};

int main() {
  const Pricing pricing;
  const Settings before{2, 1};
  const Settings after{250, 100};
  Store store(before);
  Ledger ledger;
  Client first(1, store, ledger);
  Client second(2, store, ledger);
  Operator operator_(store);
  std::thread one(&Client::run, &first);
  std::thread two(&Client::run, &second);
  std::thread three(&Operator::run, &operator_);
  one.join();
  two.join();
  three.join();
  const int odd = ledger.count_other_than(pricing.price(before, 60), pricing.price(after, 60));
  if (odd != 0 || store.version() != 2) {
    std::printf("%d prices are of no version\n", odd);
    return 1;
  }
  return 0;
}
