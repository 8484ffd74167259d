// A logger starts its thread in the constructor and sets the limit that the thread reads
// afterwards. Mostly the constructor is done long before the thread runs; if not, the thread works
// with limit 0.
// ROOT CAUSE: use_before_init.cpp:15; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <thread>

class Logger {
 public:
  explicit Logger(int limit) {
    thread_ = std::thread(&Logger::work, this);
    limit_ = limit;
  }

  int finish() {
    thread_.join();
    return written_;
  }

 private:
  void work() {
    int limit = limit_;
    assert(limit > 0);
    for (int i = 0; i < limit; i++) written_++;
  }

  int limit_ = 0;
  int written_ = 0;
  std::thread thread_;
};

int main(int argc, char** argv) {
  int limit = argc > 1 ? std::atoi(argv[1]) : 3;
  Logger logger(limit);
  int written = logger.finish();
  std::printf("%d of %d lines written\n", written, limit);
  return written == limit ? 0 : 1;
}
