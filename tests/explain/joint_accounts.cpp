// Two customers pay from the same two accounts. Each looks at both balances before it takes anything; between that and the taking the
// other one pays. Both accounts are overdrawn then, and one overdrawn account is enough for the bank to complain.
// ROOT CAUSE: joint_accounts.cpp:26, joint_accounts.cpp:27, joint_accounts.cpp:32, joint_accounts.cpp:33 (balances that are out of date when they are written); KIND: atomicity-violation
#include <cstdio>
#include <mutex>
#include <thread>

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}
  int balance() const { return balance_; }
  void set(int balance) { balance_ = balance; }

 private:
  int balance_;
};

class Customer {
 public:
  Customer(std::mutex& mutex, Account& checking, Account& savings)
      : mutex_(mutex), checking_(checking), savings_(savings) {}

  bool pay(int from_checking, int from_savings) {
    // Looked at first, written back afterwards.
    std::unique_lock lock(mutex_);
    const int checking = checking_.balance();
    const int savings = savings_.balance();
    lock.unlock();
    if (checking < from_checking || savings < from_savings) return false;
    paid_ += from_checking + from_savings;
    lock.lock();
    checking_.set(checking - from_checking);
    savings_.set(savings - from_savings);
    return true;
  }
  int paid() const { return paid_; }

 private:
  std::mutex& mutex_;
  Account& checking_;
  Account& savings_;
  int paid_ = 0;
};

class Bank {
 public:
  Bank(const Account& checking, const Account& savings) : checking_(checking), savings_(savings) {}
  int differences(int checking, int savings) const {
    int count = 0;
    if (checking_.balance() != checking) ++count;
    if (savings_.balance() != savings) ++count;
    return count;
  }

 private:
  const Account& checking_;
  const Account& savings_;
};

int main() {
  Account checking(500);
  Account savings(900);
  std::mutex mutex;
  Customer first(mutex, checking, savings);
  Customer second(mutex, checking, savings);
  std::thread one([&] { first.pay(120, 300); });
  std::thread two([&] { second.pay(80, 200); });
  one.join();
  two.join();
  const Bank bank(checking, savings);
  const int differences = bank.differences(300, 400);
  if (differences > 0) std::fputs("the balances are wrong\n", stderr);
  return differences > 0 ? 1 : 0;
}
