// A processor benchmark: fifty threads divide random numbers, not more than a few of them at a time. A division by
// zero is thrown past the line that gives the thread's place back ("blocking critical section"): there is
// room for fewer and fewer threads, in the end for none. Exits with 1 if a place was lost.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

struct DivisionByZero : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Benchmark {
 public:
  Benchmark(unsigned seed, int most) : seed_(seed), most_(most) {}
  bool start_threads(int threads);
  void wait_for_threads();
  int lost_places();
  void print_summary();

 private:
  bool enter();
  void leave();
  void run(int number);
  long calculate(int number);
  static int divide(int a, int b);
  void add_result(long result);
  void add_exception(int number);

  const unsigned seed_;
  const int most_;
  std::mutex mutex_;
  int current_ = 0;
  int calculated_ = 0;
  int exceptions_ = 0;
  long sum_ = 0;
  std::vector<std::thread> threads_;
};

bool Benchmark::enter() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (current_ >= most_) {
    return false;
  }
  ++current_;
  return true;
}

void Benchmark::leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  --current_;
}

int Benchmark::divide(int a, int b) {
  if (b == 0) {
    throw DivisionByZero("divided by zero");
  }
  return a / b;
}

void Benchmark::add_result(long result) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++calculated_;
  sum_ += result;
}

void Benchmark::add_exception(int number) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++exceptions_;
  std::fprintf(stderr, "thread %d has divided by zero\n", number);
}

long Benchmark::calculate(int number) {
  std::minstd_rand random(seed_ * 48271u + static_cast<unsigned>(number) * 7919u + 1u);
  random.discard(4);
  long sum = 0;
  for (int i = 0; i < 10; ++i) {
    const int a = static_cast<int>(random() % 100000);
    const int b = static_cast<int>(random() % 900);
    sum += divide(a, b);
  }
  return sum;
}

// One of the threads.
void Benchmark::run(int number) {
  try {
    const long result = calculate(number);
    add_result(result);
#ifndef FIXED
    leave();
#endif
  } catch (const DivisionByZero&) {
    add_exception(number);
  }
#ifdef FIXED
  leave();
#endif
}

// Starts a thread whenever there is room for one. False: there was none for a long time.
bool Benchmark::start_threads(int threads) {
  int patience = 500;
  for (int i = 0; i < threads; ++i) {
    while (!enter()) {
      if (--patience == 0) {
        std::printf("only %d of %d threads could be started\n", i, threads);
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    threads_.emplace_back(&Benchmark::run, this, i);
  }
  return true;
}

void Benchmark::wait_for_threads() {
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

int Benchmark::lost_places() {
  std::lock_guard<std::mutex> lock(mutex_);
  return current_;
}

void Benchmark::print_summary() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::printf("%d calculations, sum %ld, %d exceptions\n", calculated_, sum_, exceptions_);
  if (current_ != 0) {
    std::printf("%d of %d places are lost\n", current_, most_);
  }
}

int main(int count, char** arguments) {
  unsigned seed = 1;
  int threads = 50;
  int most = 10;
  if (count > 1) {
    seed = static_cast<unsigned>(std::atoi(arguments[1]));
  }
  if (count > 2) {
    threads = std::atoi(arguments[2]);
  }
  if (count > 3) {
    most = std::atoi(arguments[3]);
  }
  if (threads < 1 || most < 1) {
    std::fprintf(stderr, "usage: thread_test [SEED [THREADS [MOST]]]\n");
    return 2;
  }
  Benchmark benchmark(seed, most);
  const bool all_started = benchmark.start_threads(threads);
  benchmark.wait_for_threads();
  benchmark.print_summary();
  if (!all_started || benchmark.lost_places() != 0) {
    return 1;
  }
  return 0;
}
