// Five philosophers sit around a table, a fork between each two; each takes the left fork, then
// the right one. When all five hold their left fork, each waits for its neighbour for ever.
// ROOT CAUSE: dining_philosophers.cpp:22; KIND: deadlock
// PREEMPTIONS: 2
// EXPECT: fail deadlock
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static constexpr int kSeats = 5;

static std::mutex forks[kSeats];
static int meals[kSeats];

static void dine(int seat, int rounds) {
  std::mutex& left = forks[seat];
  std::mutex& right = forks[(seat + 1) % kSeats];
  for (int i = 0; i < rounds; i++) {
    std::lock_guard hold_left(left);
    std::lock_guard hold_right(right);
    meals[seat]++;
  }
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<std::thread> philosophers;
  for (int seat = 0; seat < kSeats; seat++) philosophers.emplace_back(dine, seat, rounds);
  for (std::thread& philosopher : philosophers) philosopher.join();

  int total = 0;
  for (int count : meals) total += count;
  std::printf("%d meals eaten\n", total);
  return total == kSeats * rounds ? 0 : 1;
}
