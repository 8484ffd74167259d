// Totals of a counter of requests: each report takes a copy, adds to it and puts it back. Two reports at the same time lose one of
// them, in both fields; the audit fails if either is wrong.
// ROOT CAUSE: joint_totals.cpp:21, joint_totals.cpp:22, joint_totals.cpp:27, joint_totals.cpp:28 (copied, changed, put back); KIND: atomicity-violation
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Request {
  std::uint32_t bytes = 0;
};

class Totals {
 public:
  void report(const std::vector<Request>& requests) {
    std::uint64_t sum = 0;
    for (const Request& one : requests) sum += one.bytes;
    // Both are read before either is written.
    std::unique_lock lock(mutex_);
    const std::uint64_t count_before = count_;
    const std::uint64_t bytes_before = bytes_;
    lock.unlock();
    const std::uint64_t count_now = count_before + requests.size();
    const std::uint64_t bytes_now = bytes_before + sum;
    lock.lock();
    count_ = count_now;
    bytes_ = bytes_now;
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

class Audit {
 public:
  explicit Audit(const Totals& totals) : totals_(totals) {}
  int complaints(std::uint64_t count, std::uint64_t bytes) const {
    int found = 0;
    if (totals_.count() != count) ++found;
    if (totals_.bytes() != bytes) ++found;
    return found;
  }

 private:
  const Totals& totals_;
};

int main() {
  Totals totals;
  const std::vector<Request> first{{100}, {250}};
  const std::vector<Request> second{{75}, {30}, {5}};
  std::thread one([&] { totals.report(first); });
  std::thread two([&] { totals.report(second); });
  one.join();
  two.join();
  const Audit audit(totals);
  const int complaints = audit.complaints(5, 460);
  if (complaints != 0) std::fprintf(stderr, "the audit complains\n");
  return complaints != 0 ? 1 : 0;
}
