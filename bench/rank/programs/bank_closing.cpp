// A bank: clerks transfer money between accounts, and auditors close accounts and move what is left to a savings
// account. Every account has a lock. Transfers take the two locks in the order of the accounts' numbers;
// Bank::close_account takes the lock of the account that is closed first, whatever its number. A transfer between
// the same two accounts at that time blocks for ever. The failure is the deadlock.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

class Account {
 public:
  Account(int number, long balance) : number_(number), balance_(balance) {}
  int number() const { return number_; }
  std::mutex& mutex() { return mutex_; }
  // Whoever calls these holds the lock.
  bool is_open() const { return open_; }
  long balance() const { return balance_; }
  void deposit(long amount) { balance_ += amount; }
  bool withdraw(long amount) {
    if (!open_ || amount > balance_) {
      return false;
    }
    balance_ -= amount;
    return true;
  }
  void close() { open_ = false; }

 private:
  const int number_;
  std::mutex mutex_;
  long balance_;
  bool open_ = true;
};

struct Transfer {
  int from = 0;
  int to = 0;
  long amount = 0;
};

// What was done, for the auditors.
class Journal {
 public:
  void note_transfer(const Transfer& transfer) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++transfers_;
    volume_ += transfer.amount;
  }
  void note_refusal(const Transfer& transfer) {
    std::lock_guard<std::mutex> lock(mutex_);
    refused_.push_back(transfer);
  }
  void note_closing(int number, long rest) {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_[number] = rest;
  }
  std::string describe() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::to_string(transfers_) + " transfers of " + std::to_string(volume_) + ", " +
           std::to_string(refused_.size()) + " refused, " + std::to_string(closed_.size()) +
           " accounts closed";
  }

 private:
  std::mutex mutex_;
  int transfers_ = 0;
  long volume_ = 0;
  std::vector<Transfer> refused_;
  std::map<int, long> closed_;
};

class Bank {
 public:
  explicit Bank(int accounts) {
    for (int i = 0; i < accounts; ++i) {
      accounts_.push_back(std::make_unique<Account>(i, 100));
    }
  }
  bool transfer(const Transfer& wanted) {
    if (wanted.from == wanted.to || !is_known(wanted.from) || !is_known(wanted.to)) {
      journal_.note_refusal(wanted);
      return false;
    }
    Account& from = account(wanted.from);
    Account& to = account(wanted.to);
    const auto [first, second] = in_order(from, to);
    std::lock_guard<std::mutex> first_lock(first->mutex());
    std::lock_guard<std::mutex> second_lock(second->mutex());
    if (!to.is_open() || !from.withdraw(wanted.amount)) {
      journal_.note_refusal(wanted);
      return false;
    }
    to.deposit(wanted.amount);
    journal_.note_transfer(wanted);
    return true;
  }
  void close_account(int number, int savings) {
    Account& closing = account(number);
    Account& into = account(savings);
#ifdef FIXED
    const auto [first, second] = in_order(closing, into);
    std::lock_guard<std::mutex> first_lock(first->mutex());
    std::lock_guard<std::mutex> second_lock(second->mutex());
#else
    std::lock_guard<std::mutex> closing_lock(closing.mutex());
    std::lock_guard<std::mutex> into_lock(into.mutex());
#endif
    const long rest = closing.balance();
    closing.withdraw(rest);
    closing.close();
    into.deposit(rest);
    journal_.note_closing(number, rest);
  }
  // Of one account after the other: not a balance of a moment.
  long estimate() {
    long sum = 0;
    for (const auto& one : accounts_) {
      std::lock_guard<std::mutex> lock(one->mutex());
      sum += one->balance();
    }
    return sum;
  }
  std::string describe() { return journal_.describe(); }

 private:
  bool is_known(int number) const {
    return number >= 0 && number < static_cast<int>(accounts_.size());
  }
  Account& account(int number) { return *accounts_[static_cast<std::size_t>(number)]; }
  static std::pair<Account*, Account*> in_order(Account& a, Account& b) {
    return a.number() < b.number() ? std::pair(&a, &b) : std::pair(&b, &a);
  }

  std::vector<std::unique_ptr<Account>> accounts_;
  Journal journal_;
};

class Clerk {
 public:
  Clerk(Bank& bank, unsigned seed) : bank_(bank), random_(seed * 7919u + 11u) {}
  void start() { thread_ = std::thread(&Clerk::work, this); }
  void join() { thread_.join(); }
  int done() const { return done_; }

 private:
  void work() {
    for (int i = 0; i < 5; ++i) {
      const Transfer next = draw();
      if (bank_.transfer(next)) {
        ++done_;
      }
    }
  }
  Transfer draw() {
    Transfer transfer;
    transfer.from = static_cast<int>(random_() % 5);
    transfer.to = static_cast<int>(random_() % 5);
    transfer.amount = 1 + static_cast<long>(random_() % 40);
    return transfer;
  }

  Bank& bank_;
  std::minstd_rand random_;
  std::thread thread_;
  int done_ = 0;
};

void audit(Bank& bank) {
  bank.close_account(3, 0);
  const long estimate = bank.estimate();
  if (estimate < 0) {
    std::printf("debts: %ld\n", estimate);
  }
  bank.close_account(1, 4);
}

int main() {
  Bank bank(5);
  std::vector<std::unique_ptr<Clerk>> clerks;
  for (unsigned i = 0; i < 3; ++i) {
    clerks.push_back(std::make_unique<Clerk>(bank, i));
  }
  for (const auto& clerk : clerks) {
    clerk->start();
  }
  std::thread auditor(audit, std::ref(bank));
  int done = 0;
  for (const auto& clerk : clerks) {
    clerk->join();
    done += clerk->done();
  }
  auditor.join();
  std::printf("%d done; %s\n", done, bank.describe().c_str());
  return bank.estimate() == 500 ? 0 : 1;
}
