// use_before_init.cpp, fixed: the thread is started when everything it reads has been set.
// EXPECT: pass
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <thread>

class Logger {
 public:
  explicit Logger(int limit) {
    limit_ = limit;
    thread_ = std::thread(&Logger::work, this);
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
