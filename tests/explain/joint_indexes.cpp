// A register with two indexes, by number and by name. The thread that publishes it fills both, the one that looks up does not wait: it
// finds neither, and a look-up by one of them alone would have been reported as missing.
// ROOT CAUSE: joint_indexes.cpp:30, joint_indexes.cpp:31, joint_indexes.cpp:23, joint_indexes.cpp:24 (looked up without waiting); KIND: order-violation
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

struct Entry {
  int number;
  const char* name;
};

static const Entry kEntries[] = {{7, "pump"}, {9, "valve"}, {12, "gauge"}};

class Register {
 public:
  void publish(const Entry* entries, int count) {
    const Entry* last = entries;
    for (int i = 1; i < count; ++i)
      if (entries[i].number > last->number) last = entries + i;
    const std::scoped_lock lock(mutex_);
    by_number_ = last;
    by_name_ = entries;
  }
  // How many of the two look-ups find nothing.
  int missing(int number, const char* name) const {
    int none = 0;
    const std::scoped_lock lock(mutex_);
    const Entry* first = by_number_;
    const Entry* second = by_name_;
    if (first == nullptr || first->number < number) ++none;
    if (second == nullptr || std::strcmp(second->name, name) != 0) ++none;
    return none;
  }

 private:
  mutable std::mutex mutex_;
  const Entry* by_number_ = nullptr;
  const Entry* by_name_ = nullptr;
};

class Report {
 public:
  void add(int missing) { missing_ += missing; }
  bool complete() const { return missing_ == 0; }

 private:
  int missing_ = 0;
};

int main() {
  Register entries;
  Report report;
  std::thread publisher([&] { entries.publish(kEntries, 3); });
  std::thread reader([&] { report.add(entries.missing(9, "pump")); });
  publisher.join();
  reader.join();
  if (!report.complete()) std::fputs("entries are missing\n", stderr);
  return report.complete() ? 0 : 1;
}
