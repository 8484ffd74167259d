// Sixty-four threads each take a ticket number by reading the counter and writing it back plus
// one. Two that read the same value hold the same ticket.
// ROOT CAUSE: sixty_four_threads.cpp:16; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static int next_ticket = 0;

static void take_ticket(int* ticket) {
  int mine = next_ticket;
  *ticket = mine;
  next_ticket = mine + 1;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 64;
  std::vector<int> tickets(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back(take_ticket, &tickets[i]);
  for (std::thread& thread : threads) thread.join();

  std::vector<int> holders(count);
  int doubled = 0;
  for (int ticket : tickets) {
    if (++holders[ticket] > 1) doubled++;
  }
  std::printf("%d threads, %d doubled tickets\n", count, doubled);
  return doubled == 0 ? 0 : 1;
}
