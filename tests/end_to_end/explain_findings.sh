#!/bin/bash
# clew debug, clew explain: runs that a watch has ended are explained by what it has found, with or without a passing run.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

cat >bank.cc <<'END'
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
struct Account { std::mutex mutex; long balance = 100; };
class Bank {
 public:
  void open(const std::string& who) { accounts_[who].balance = 100; }
  void transfer(const std::string& from, const std::string& to, long n) {
    Account& a = accounts_.at(from);
    Account& b = accounts_.at(to);
    std::lock_guard<std::mutex> lock(a.mutex);
    take(a, n);
    put(b, n);
  }
  long moved() const { return moved_; }
 private:
  void take(Account& a, long n) {
    a.balance -= n;
    moved_ += n;
  }
  void put(Account& b, long n) {
    std::lock_guard<std::mutex> lock(b.mutex);
    b.balance += n;
  }
  std::map<std::string, Account> accounts_;
  long moved_ = 0;
};
int main() {
  Bank bank;
  bank.open("ann");
  bank.open("bob");
  std::thread t([&] { bank.transfer("ann", "bob", 5); });
  std::thread u([&] { bank.transfer("bob", "ann", 7); });
  t.join();
  u.join();
  std::printf("%ld\n", bank.moved());
}
END
cat >alarm.cc <<'END'
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
class Hub {
 public:
  void subscribe(std::function<void(int)> callback) {
    std::lock_guard<std::mutex> lock(mutex_);
    callbacks_.push_back(std::move(callback));
  }
  void clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    callbacks_.clear();
  }
  void publish(int value) {
    std::vector<std::function<void(int)>> copy;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      copy = callbacks_;
    }
    for (auto& callback : copy) callback(value);
  }
 private:
  std::mutex mutex_;
  std::vector<std::function<void(int)>> callbacks_;
};
class Alarm {
 public:
  explicit Alarm(Hub& hub) : hub_(hub) { hub_.subscribe([this](int value) { check(value); }); }
  ~Alarm() { hub_.clear(); }
 private:
  void check(int value) {
    if (value > limit_) ++raised_;
  }
  Hub& hub_;
  int limit_ = 3;
  int raised_ = 0;
};
int main() {
  Hub hub;
  auto alarm = std::make_unique<Alarm>(hub);
  std::thread sensor([&] { for (int i = 0; i < 5; i++) hub.publish(i); });
  alarm.reset();
  sensor.join();
}
END
check "the programs are built" eval '"$clew" c++ -std=c++20 -O1 -g -pthread bank.cc -o bank && "$clew" c++ -std=c++20 -O1 -g -pthread alarm.cc -o alarm'

lines_of_root() { json "{p['line'] for p in d['explain']['root']} == {$1}"; }
# Each of the two locks is told by its address, as they have the same name. Every schedule fails: there is no passing run.
lock_order() {
  run 1 debug --seed 1 --time 20 --fails-if lock-order --only lock-order --json out.json -- ./bank || return 1
  json 'd["explain"]["kind"] == "deadlock"' && json 'd["explain"]["cause"]["pattern"] == "lock-order"' &&
    json 'len({w["object"] for w in d["explain"]["cause"]["waits"]}) == 2' && lines_of_root 24 &&
    grep -q '^clew: locks are taken in an order that can deadlock: T0.[12] takes .* while it holds .*, and T0.[12] takes' err.txt
}
check "an order of locks" lock_order
race() {
  run 1 debug --seed 1 --time 20 --fails-if race --only race --json out.json -- ./bank || return 1
  json 'd["explain"]["kind"] == "data-race"' && json 'd["explain"]["cause"]["variable"] == "bank.moved_"' &&
    lines_of_root 21 && json 'len(d["explain"]["cause"]["use"]["locks"]) == 1'
}
check "a race" race
freed() {
  run 1 debug --seed 1 --time 20 --fails-if memory --json out.json -- ./alarm || return 1
  json 'd["explain"]["kind"] == "order-violation"' && json 'd["explain"]["cause"]["pattern"] == "use-after-free"' &&
    json 'd["explain"]["cause"]["variable"] == "Alarm::limit_"' && lines_of_root '35, 45' &&
    json 'd["explain"]["cause"]["allocated"]["at"]["line"] == 43'
}
check "memory that was freed" freed
alone() {
  local failing
  failing=$(python3 -c 'import json; print(json.load(open("out.json"))["hunt"]["failing"])')
  run 0 explain "$failing" "$failing" --json alone.json && grep -q 'There is no passing run to compare with' out.txt
}
check "the failing recording alone" alone
cat >io.cc <<'END'
#include <unistd.h>
#include <mutex>
#include <thread>
std::mutex m;
int total;
static void log_it(int n) {
  if (write(1, "x\n", 2) == 2) total += n;
}
static void work(int n) {
  std::lock_guard<std::mutex> lock(m);
  log_it(n);
}
int main() {
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
}
END
reported() {
  cc -shared -fPIC -I"$source/include" -o no_io.so "$source/examples/listener/no_io.c" &&
    "$clew" c++ -g -O1 -pthread io.cc -o io || return 1
  run 1 debug --seed 1 --time 10 --listener ./no_io.so:fail -- ./io &&
    says err.txt '^clew: reported by a listener: a thread writes .*, T0.[12] at io.cc:7'
}
check "what a listener reports" reported
check "no function of the runtime's is told" eval '! grep -q __clew out.txt err.txt'
finish
