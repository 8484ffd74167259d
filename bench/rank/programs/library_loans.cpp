// A library with two desks. Each desk lends and takes back books, with dates that depend on the seed; a book that comes back late
// costs a fine. Calendar::days_between forgets the leap day if the loan begins in an earlier year than it ends. Exits with 1 if
// the fines are not those that day numbers give.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Date {
  int year = 0;
  int month = 1;
  int day = 1;
};

class Calendar {
 public:
  static bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
  static int days_in_month(int year, int month) {
    static const int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return kDays[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
  }
  static int days_in_year(int year) { return is_leap(year) ? 366 : 365; }
  static int day_of_year(const Date& date) {
    int day = date.day;
    for (int month = 1; month < date.month; ++month) {
      day += days_in_month(date.year, month);
    }
    return day;
  }
  static int days_between(const Date& from, const Date& to);
  static Date add_days(Date date, int days);
};

int Calendar::days_between(const Date& from, const Date& to) {
  if (from.year == to.year) {
    return day_of_year(to) - day_of_year(from);
  }
#ifdef FIXED
  int days = days_in_year(from.year) - day_of_year(from);
#else
  int days = 365 - day_of_year(from);
#endif
  for (int year = from.year + 1; year < to.year; ++year) {
    days += days_in_year(year);
  }
  return days + day_of_year(to);
}

Date Calendar::add_days(Date date, int days) {
  while (days-- > 0) {
    if (++date.day > days_in_month(date.year, date.month)) {
      date.day = 1;
      if (++date.month > 12) {
        date.month = 1;
        ++date.year;
      }
    }
  }
  return date;
}

struct Loan {
  int book = 0;
  Date since;
};

class Tariff {
 public:
  int fine(int days) const { return days <= kFree ? 0 : reduced((days - kFree) * kPerDay); }

 private:
  int reduced(int amount) const { return amount > kMost ? kMost : amount; }
  static constexpr int kFree = 28;
  static constexpr int kPerDay = 5;
  static constexpr int kMost = 4000;
};

class Library {
 public:
  void lend(int reader, int book, const Date& date) {
    std::lock_guard<std::mutex> lock(mutex_);
    loans_[reader].push_back({book, date});
    ++lent_;
  }
  bool take_back(int reader, int book, const Date& date);
  int fines() {
    std::lock_guard<std::mutex> lock(mutex_);
    return fines_;
  }
  int open_loans() {
    std::lock_guard<std::mutex> lock(mutex_);
    return lent_ - returned_;
  }

 private:
  int charge(const Loan& loan, const Date& date) const {
    return tariff_.fine(Calendar::days_between(loan.since, date));
  }
  std::mutex mutex_;
  std::map<int, std::vector<Loan>> loans_;
  Tariff tariff_;
  int fines_ = 0;
  int lent_ = 0;
  int returned_ = 0;
};

bool Library::take_back(int reader, int book, const Date& date) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Loan>& mine = loans_[reader];
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].book == book) {
      fines_ += charge(mine[i], date);
      mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(i));
      ++returned_;
      return true;
    }
  }
  return false;
}

class Desk {
 public:
  Desk(Library& library, unsigned seed) : library_(library), state_(seed * 2654435761u + 12345u) {}
  void run() {
    for (int i = 0; i < 6; ++i) {
      serve(i);
    }
  }
  int expected() const { return expected_; }

 private:
  void serve(int number) {
    const Date since = any_date();
    const int days = static_cast<int>(next() % 60);
    const int reader = static_cast<int>(state_ % 97);
    library_.lend(reader, number, since);
    library_.take_back(reader, number, Calendar::add_days(since, days));
    expected_ += days > 28 ? (days - 28) * 5 : 0;
  }
  Date any_date() {
    Date date;
    date.year = 2019 + static_cast<int>(next() % 8);
    date.month = 1 + static_cast<int>(next() % 12);
    date.day = 1 + static_cast<int>(next() % 28);
    return date;
  }
  unsigned next() { return (state_ = state_ * 1103515245u + 12345u) >> 16; }
  Library& library_;
  unsigned state_;
  int expected_ = 0;
};

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  Library library;
  Desk first(library, seed);
  Desk second(library, seed + 7919);
  std::thread one(&Desk::run, &first);
  std::thread other(&Desk::run, &second);
  one.join();
  other.join();
  const int expected = first.expected() + second.expected();
  if (library.open_loans() != 0 || library.fines() != expected) {
    std::printf("fines: %d, not %d\n", library.fines(), expected);
    return 1;
  }
  return 0;
}
