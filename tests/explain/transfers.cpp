// Accounts, each with a lock of its own. A transfer locks the account that it takes from, and then the one that it gives to; two transfers in
// opposite directions wait for each other. The story is tested by a schedule in which one takes both before the other begins.
// ROOT CAUSE: transfers.cpp:60 (the first lock), transfers.cpp:62 (the second one, in the order of the call); KIND: deadlock
// SAYS: tested by a schedule: the failing one, changed so that this lock is taken only when the thread that waits for it has had it, passes
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

class Account {
 public:
  Account(std::string owner, long balance) : owner_(std::move(owner)), balance_(balance) {}
  std::mutex& lock() { return lock_; }
  [[nodiscard]] long balance() const { return balance_; }
  void book(long amount, const std::string& text) {
    balance_ += amount;
    statement_.push_back(text);
  }
  [[nodiscard]] const std::string& owner() const { return owner_; }

 private:
  std::mutex lock_;
  std::string owner_;
  long balance_;
  std::vector<std::string> statement_;
};

class Bank {
 public:
  void open(const std::string& owner, long balance) {
    accounts_[owner] = std::make_unique<Account>(owner, balance);
  }
  // False: there is not enough.
  bool transfer(const std::string& from, const std::string& to, long amount) {
    Account& source = *accounts_.at(from);
    Account& target = *accounts_.at(to);
    return move(source, target, amount);
  }
  long total() {
    long sum = 0;
    for (const auto& [owner, account] : accounts_) {
      std::lock_guard guard(account->lock());
      sum += account->balance();
    }
    return sum;
  }

 private:
  static bool move(Account& source, Account& target, long amount) {
#ifdef FIXED
    std::scoped_lock both(source.lock(), target.lock());
#else
    std::lock_guard first(source.lock());
    if (source.balance() < amount) return false;
    std::lock_guard second(target.lock());
#endif
    if (source.balance() < amount) return false;
    source.book(-amount, "to " + target.owner());
    target.book(amount, "from " + source.owner());
    return true;
  }

  std::map<std::string, std::unique_ptr<Account>> accounts_;
};

void pay_rent(Bank& bank) {
  bank.transfer("ada", "bob", 300);
  bank.transfer("ada", "cy", 20);
}

void pay_back(Bank& bank) {
  bank.transfer("cy", "bob", 10);
  bank.transfer("bob", "ada", 50);
}

}  // namespace

int main() {
  Bank bank;
  bank.open("ada", 500);
  bank.open("bob", 100);
  bank.open("cy", 40);
  const long before = bank.total();
  std::thread tenant(pay_rent, std::ref(bank));
  std::thread debtor(pay_back, std::ref(bank));
  tenant.join();
  debtor.join();
  if (bank.total() != before) return 1;
  std::printf("%ld\n", before);
  return 0;
}
