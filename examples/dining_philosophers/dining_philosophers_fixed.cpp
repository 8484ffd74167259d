// dining_philosophers.cpp, fixed: everybody takes the fork with the lower number first, so there
// is no circle of philosophers who wait for each other.
// EXPECT: pass
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static constexpr int kSeats = 5;

static std::mutex forks[kSeats];
static int meals[kSeats];

static void dine(int seat, int rounds) {
  int left = seat;
  int right = (seat + 1) % kSeats;
  std::mutex& first = forks[std::min(left, right)];
  std::mutex& second = forks[std::max(left, right)];
  for (int i = 0; i < rounds; i++) {
    std::lock_guard hold_first(first);
    std::lock_guard hold_second(second);
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
