// A background writer drains its queue until it is asked to stop. An item pushed after the last
// drain and before the stop request stays behind.
// ROOT CAUSE: jthread_stop_race.cpp:38, jthread_stop_race.cpp:31 (the last drain, before a push); KIND: order-violation or atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <thread>

class Writer {
 public:
  Writer() : thread_([this](std::stop_token stop) { work(stop); }) {}

  void push() {
    std::lock_guard lock(mutex_);
    pending_++;
  }

  int finish() {
    thread_.request_stop();
    thread_.join();
    return written_;
  }

 private:
  void drain() {
    std::lock_guard lock(mutex_);
    written_ += pending_;
    pending_ = 0;
  }

  void work(std::stop_token stop) {
    do {
      drain();
      std::this_thread::yield();
    } while (!stop.stop_requested());
  }

  std::mutex mutex_;
  int pending_ = 0;
  int written_ = 0;
  std::jthread thread_;
};

int main(int argc, char** argv) {
  int items = argc > 1 ? std::atoi(argv[1]) : 3;
  Writer writer;
  for (int i = 0; i < items; i++) writer.push();
  int written = writer.finish();
  std::printf("%d of %d written\n", written, items);
  return written == items ? 0 : 1;
}
