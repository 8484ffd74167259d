// A processor benchmark: threads divide random numbers, and a thread that has ended makes room for the next.
// A division by zero is thrown out of the work, past the line that makes room ("blocking critical
// section"): the number of threads that may run shrinks, and the benchmark ends when it is 0.
// Exits with 1 if a thread did not make room: fewer could run than should.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

struct DivisionByZero : std::runtime_error {
  DivisionByZero() : std::runtime_error("division by zero") {}
};

const int kMostRunning = 10;
std::mutex mutex;
int running = 0;
int divided = 0;
int exceptions = 0;
unsigned seed = 1;

int divide(int a, int b) {
  if (b == 0) {
    throw DivisionByZero();
  }
  return a / b;
}

bool may_start() {
  std::lock_guard<std::mutex> lock(mutex);
  if (running >= kMostRunning) {
    return false;
  }
  ++running;
  return true;
}

void make_room() {
  std::lock_guard<std::mutex> lock(mutex);
  --running;
}

void note_division(int result) {
  std::lock_guard<std::mutex> lock(mutex);
  divided += result >= 0 ? 1 : 1;
}

void note_exception() {
  std::lock_guard<std::mutex> lock(mutex);
  ++exceptions;
}

int random_number(std::minstd_rand& random) { return static_cast<int>(random() % 1000); }

// Some divisions of random numbers.
void calculate(unsigned number) {
  std::minstd_rand random(seed * 7919 + number * 104729);
  random.discard(3);
  for (int i = 0; i < 12; ++i) {
    const int a = random_number(random);
    const int b = random_number(random);
    note_division(divide(a, b));
  }
}

// A thread of the benchmark: calculates, and makes room for the next.
void run_one(unsigned number) {
#ifdef FIXED
  try {
    calculate(number);
  } catch (const DivisionByZero&) {
    note_exception();
  }
  make_room();
#else
  try {
    calculate(number);
    make_room();
  } catch (const DivisionByZero&) {
    note_exception();
  }
#endif
}

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

int start_all(int threads, std::vector<std::thread>& started) {
  int refused = 0;
  for (int i = 0; i < threads; ++i) {
    while (!may_start()) {
      if (++refused > 1000) {
        return i;
      }
      wait_a_little();
    }
    started.emplace_back(run_one, static_cast<unsigned>(i));
  }
  return threads;
}

int main(int count, char** arguments) {
  seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const int threads = count > 2 ? std::atoi(arguments[2]) : 50;
  std::vector<std::thread> started;
  const int could_start = start_all(threads, started);
  for (std::thread& thread : started) {
    thread.join();
  }
  std::printf("started %d of %d, divisions %d, exceptions %d\n", could_start, threads, divided,
              exceptions);
  return could_start == threads && running == 0 ? 0 : 1;
}
