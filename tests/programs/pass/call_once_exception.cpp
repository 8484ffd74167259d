// call_once whose function throws: the exception goes to that caller, and the next one runs the
// function again. (ThreadSanitizer's pthread_once does not support exceptions: under it this
// program hangs.)
// EXPECT: pass
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../check.h"

int main(int argc, char** argv) {
  int callers = argc > 1 ? std::atoi(argv[1]) : 6;
  constexpr int kFailures = 2;
  std::once_flag once;
  int attempts = 0;  // only touched inside the call_once, and read after it
  std::atomic<int> caught = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < callers; i++) {
    threads.emplace_back([&] {
      try {
        std::call_once(once, [&] {
          if (++attempts <= kFailures) throw std::runtime_error("not yet");
        });
        CHECK(attempts == kFailures + 1);
      } catch (const std::runtime_error&) {
        caught++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(attempts == kFailures + 1);
  CHECK(caught == kFailures);
  std::puts("ok");
}
