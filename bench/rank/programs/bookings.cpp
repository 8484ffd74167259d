// Books appointments from a list of requests, in two threads, one for each half of the list. A request says when it begins and how long
// it takes; one that goes beyond midnight is split at midnight. The function that splits compares with `>` where the length is to be
// taken modulo a day, and loses what is left of requests that begin exactly at the last slot. The defect is in ordinary code; whether it
// shows depends on the requests (the seed). Exits with 1 if hours are missing in the calendar.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

constexpr int kSlots = 24;

struct BookingRequest {
  int day = 0;
  int slot = 0;
  int length = 0;
};

std::string to_text(const BookingRequest& request) {
  return "day " + std::to_string(request.day) + ", " + std::to_string(request.slot) + ":00, " +
         std::to_string(request.length) + " h";
}

class Day {
 public:
  bool is_free(int slot) const { return owners_[static_cast<std::size_t>(slot)] == 0; }
  void book(int slot, int owner) { owners_[static_cast<std::size_t>(slot)] = owner; }
  int booked() const {
    int count = 0;
    for (const int owner : owners_) {
      count += owner != 0 ? 1 : 0;
    }
    return count;
  }

 private:
  std::vector<int> owners_ = std::vector<int>(kSlots, 0);
};

class Calendar {
 public:
  // How many hours were free and are booked now.
  int book(const BookingRequest& request, int owner) {
    std::lock_guard<std::mutex> lock(mutex_);
    Day& day = days_[request.day];
    int booked = 0;
    for (int i = 0; i < request.length; ++i) {
      const int slot = request.slot + i;
      if (day.is_free(slot)) {
        day.book(slot, owner);
        ++booked;
      } else {
        ++conflicts_;
      }
    }
    return booked;
  }
  int hours() {
    std::lock_guard<std::mutex> lock(mutex_);
    int sum = 0;
    for (const auto& [number, day] : days_) {
      sum += day.booked();
    }
    return sum;
  }
  int conflicts() {
    std::lock_guard<std::mutex> lock(mutex_);
    return conflicts_;
  }

 private:
  std::mutex mutex_;
  std::map<int, Day> days_;
  int conflicts_ = 0;
};

class Office {
 public:
  explicit Office(Calendar& calendar) : calendar_(calendar) {}

  void handle_all(const std::vector<BookingRequest>& requests, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      handle(requests[i], static_cast<int>(i) + 1);
    }
  }

 private:
  void handle(const BookingRequest& request, int owner) {
    if (!is_sensible(request)) {
      std::fprintf(stderr, "refused: %s\n", to_text(request).c_str());
      return;
    }
    for (const BookingRequest& part : split_at_midnight(request)) {
      confirm(part, calendar_.book(part, owner));
    }
  }
  static bool is_sensible(const BookingRequest& request) {
    return request.slot >= 0 && request.slot < kSlots && request.length > 0 && request.length <= 12;
  }
  static std::vector<BookingRequest> split_at_midnight(const BookingRequest& request) {
    std::vector<BookingRequest> parts;
    BookingRequest first = request;
    const int left = kSlots - request.slot;
    if (request.length <= left) {
      parts.push_back(first);
      return parts;
    }
    first.length = left;
    parts.push_back(first);
#ifdef FIXED
    if (left >= 1) {
#else
    if (left > 1) {
#endif
      parts.push_back(next_day(request, request.length - left));
    }
    return parts;
  }
  static BookingRequest next_day(const BookingRequest& request, int length) {
    BookingRequest rest;
    rest.day = request.day + 1;
    rest.slot = 0;
    rest.length = length;
    return rest;
  }
  void confirm(const BookingRequest& part, int hours) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (hours < part.length) {
      ++shortened_;
    }
    ++confirmed_;
  }

  Calendar& calendar_;
  std::mutex mutex_;
  int confirmed_ = 0;
  int shortened_ = 0;
};

// Days that do not touch each other, so that each request finds room.
std::vector<BookingRequest> make_requests(unsigned seed) {
  std::minstd_rand random(seed * 48271u + 7u);
  random.discard(2);
  std::vector<BookingRequest> requests;
  for (int i = 0; i < 8; ++i) {
    BookingRequest request;
    request.day = 3 * i;
    request.slot = static_cast<int>(random() % kSlots);
    request.length = 1 + static_cast<int>(random() % 10);
    requests.push_back(request);
  }
  return requests;
}

int expected_hours(const std::vector<BookingRequest>& requests) {
  int hours = 0;
  for (const BookingRequest& request : requests) {
    hours += request.length;
  }
  return hours;
}

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const std::vector<BookingRequest> requests = make_requests(seed);
  Calendar calendar;
  Office office(calendar);
  const std::size_t half = requests.size() / 2;
  std::thread one(&Office::handle_all, &office, std::cref(requests), 0, half);
  std::thread other(&Office::handle_all, &office, std::cref(requests), half, requests.size());
  one.join();
  other.join();
  const int hours = calendar.hours();
  std::printf("%d of %d hours, %d conflicts\n", hours, expected_hours(requests),
              calendar.conflicts());
  return hours == expected_hours(requests) ? 0 : 1;
}
