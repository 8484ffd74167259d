// A report that is exported by another thread, which is given a reference to it and not its share: the report may be gone when that thread locks its
// mutex, or reads its text.
// ROOT CAUSE: report_export.cpp:41 (the reference), report_export.cpp:48 (the end of the report); KIND: order-violation
// FLAGS: -O0
// SAYS: after T0 has (freed that memory|destroyed it) at report_export\.cpp:48
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
class Executor {
 public:
  ~Executor() { join(); }
  void run(std::function<void()> task) { threads_.emplace_back(std::move(task)); }
  void join() {
    for (auto& one : threads_) one.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};
struct Report {
  std::unique_ptr<std::string> text;
  std::mutex mutex;
};
static std::size_t shared_total = 0;
class Exporter {
 public:
  explicit Exporter(Executor& executor) : executor_(executor) {}
  std::size_t start(const std::string& title) {
    const auto report = std::make_shared<Report>();
    report->text = std::make_unique<std::string>(title);
    Report& seen = *report;
#ifdef FIXED
    executor_.run([report, &seen] {
#else
    executor_.run([&seen] {
#endif
      std::lock_guard guard(seen.mutex);
      shared_total += seen.text->size();
    });
    std::lock_guard guard(seen.mutex);
    return seen.text->size();
  }

 private:
  Executor& executor_;
};
int main() {
  Executor executor;
  Exporter exporter(executor);
  const std::size_t size = exporter.start("annual report");
  executor.join();
  std::printf("%zu %zu\n", size, shared_total);
}
