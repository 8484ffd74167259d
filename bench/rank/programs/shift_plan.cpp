// Plans who is on duty: shifts are intervals of hours, which are put into a plan that keeps them apart and merged. Two threads make
// a plan each. Plan::insert drops what it merges with, but forgets the end of the last one if that is beyond the new end: a shift
// that begins within another one and ends before it cuts off the rest. The defect is in ordinary code; whether it
// shows depends on the shifts (the seed). Exits with 1 if hours are wrong.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

struct Shift {
  int begin = 0;
  int end = 0;
};

// Hours of a week.
constexpr int kWeek = 168;

class Plan {
 public:
  void insert(Shift shift) {
    auto at = overlap(shift.begin);
    while (at != shifts_.end() && at->first < shift.end) {
      shift.begin = std::min(shift.begin, at->first);
#ifdef FIXED
      shift.end = std::max(shift.end, at->second);
#endif
      at = shifts_.erase(at);
    }
    shifts_[shift.begin] = shift.end;
  }
  void remove(const Shift& shift) {
    auto at = overlap(shift.begin);
    while (at != shifts_.end() && at->first < shift.end) {
      const Shift old{at->first, at->second};
      at = shifts_.erase(at);
      keep_ends(old, shift);
    }
  }
  bool covers(int hour) const {
    auto at = shifts_.upper_bound(hour);
    if (at == shifts_.begin()) {
      return false;
    }
    --at;
    return at->second > hour;
  }
  int hours() const {
    int sum = 0;
    for (const auto& [begin, end] : shifts_) {
      sum += end - begin;
    }
    return sum;
  }
  std::vector<Shift> all() const {
    std::vector<Shift> result;
    for (const auto& [begin, end] : shifts_) {
      result.push_back({begin, end});
    }
    return result;
  }

 private:
  // The first one that ends behind this hour.
  std::map<int, int>::iterator overlap(int hour) {
    auto at = shifts_.upper_bound(hour);
    if (at != shifts_.begin()) {
      auto before = at;
      --before;
      if (before->second > hour) {
        return before;
      }
    }
    return at;
  }
  void keep_ends(const Shift& old, const Shift& removed) {
    if (old.begin < removed.begin) {
      shifts_[old.begin] = removed.begin;
    }
    if (old.end > removed.end) {
      shifts_[removed.end] = old.end;
    }
  }

  std::map<int, int> shifts_;
};

struct Wish {
  Shift shift;
  bool off = false;  // not on duty
};

class Roster {
 public:
  void apply(const Wish& wish) {
    const Shift shift = within_week(wish.shift);
    if (shift.begin >= shift.end) {
      return;
    }
    if (wish.off) {
      plan_.remove(shift);
    } else {
      plan_.insert(shift);
    }
    ++applied_;
  }
  const Plan& plan() const { return plan_; }
  int applied() const { return applied_; }

 private:
  static Shift within_week(const Shift& shift) {
    return {std::max(0, shift.begin), std::min(kWeek, shift.end)};
  }

  Plan plan_;
  int applied_ = 0;
};

// All rosters together.
class Department {
 public:
  void publish(const std::string& name, const Roster& roster) {
    std::lock_guard<std::mutex> lock(mutex_);
    hours_[name] = roster.plan().hours();
    for (const Shift& shift : roster.plan().all()) {
      for (int hour = shift.begin; hour < shift.end; ++hour) {
        covered_.insert(hour);
      }
    }
  }
  int hours(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    return hours_[name];
  }
  std::size_t covered() {
    std::lock_guard<std::mutex> lock(mutex_);
    return covered_.size();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> hours_;
  std::set<int> covered_;
};

std::vector<Wish> make_wishes(unsigned seed) {
  std::minstd_rand random(seed * 40014u + 9u);
  random.discard(4);
  std::vector<Wish> wishes;
  for (int i = 0; i < 7; ++i) {
    Wish wish;
    wish.shift.begin = static_cast<int>(random() % 160) - 4;
    wish.shift.end = wish.shift.begin + 2 + static_cast<int>(random() % 14);
    wish.off = random() % 5 == 0;
    wishes.push_back(wish);
  }
  return wishes;
}

// Hour by hour, for comparison.
int expected_hours(const std::vector<Wish>& wishes) {
  std::vector<bool> on(kWeek, false);
  for (const Wish& wish : wishes) {
    for (int hour = std::max(0, wish.shift.begin); hour < std::min(kWeek, wish.shift.end); ++hour) {
      on[static_cast<std::size_t>(hour)] = !wish.off;
    }
  }
  return static_cast<int>(std::count(on.begin(), on.end(), true));
}

void plan_for(Department& department, const std::string& name, const std::vector<Wish>& wishes) {
  Roster roster;
  for (const Wish& wish : wishes) {
    roster.apply(wish);
  }
  department.publish(name, roster);
}

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const std::vector<Wish> day = make_wishes(2 * seed);
  const std::vector<Wish> night = make_wishes(2 * seed + 1);
  Department department;
  std::thread one(plan_for, std::ref(department), "day", std::cref(day));
  std::thread other(plan_for, std::ref(department), "night", std::cref(night));
  one.join();
  other.join();
  const bool right = department.hours("day") == expected_hours(day) &&
                     department.hours("night") == expected_hours(night);
  std::printf("%d and %d hours, %zu covered\n", department.hours("day"), department.hours("night"),
              department.covered());
  return right ? 0 : 1;
}
