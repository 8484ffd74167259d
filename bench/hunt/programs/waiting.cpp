// Threads that wait in loops: KIND THREADS. Nothing can fail; bench/hunt/waiting measures how many schedules a second are run.
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 2;  // of each thread

void pause() { __builtin_ia32_pause(); }

struct TestAndSet {
  std::atomic<bool> taken{false};
  void lock() {
    while (taken.exchange(true)) {
    }
  }
  void unlock() { taken = false; }
};

// Tries ever more seldom.
struct BackOff {
  std::atomic<bool> taken{false};
  void lock() {
    constexpr int kMost = 1024;
    for (int rounds = 1; taken.exchange(true); rounds = rounds < kMost ? 2 * rounds : kMost)
      for (volatile int i = 0; i < rounds; i = i + 1) {
      }
  }
  void unlock() { taken = false; }
};

struct TestTestAndSet {
  std::atomic<bool> taken{false};
  void lock() {
    do {
      while (taken) pause();
    } while (taken.exchange(true));
  }
  void unlock() { taken = false; }
};

struct Ticket {
  std::atomic<unsigned> next{0};
  std::atomic<unsigned> serving{0};
  void lock() {
    const unsigned mine = next++;
    while (serving != mine) {
    }
  }
  void unlock() { serving = serving + 1; }
};

struct Mcs {
  struct Node {
    std::atomic<Node*> next{nullptr};
    std::atomic<bool> waits{false};
  };
  static Node& mine() {
    thread_local Node node;
    return node;
  }
  std::atomic<Node*> tail{nullptr};
  void lock() {
    Node& node = mine();
    node.next = nullptr;
    node.waits = true;
    Node* const before = tail.exchange(&node);
    if (before == nullptr) return;
    before->next = &node;
    while (node.waits) pause();
  }
  void unlock() {
    Node& node = mine();
    Node* expected = &node;
    if (node.next == nullptr && tail.compare_exchange_strong(expected, nullptr)) return;
    while (node.next == nullptr) pause();
    node.next.load()->waits = false;
  }
};

int g_count;

template <class Lock>
void counts(int) {
  static Lock lock;
  for (int i = 0; i < kRounds; ++i) {
    lock.lock();
    ++g_count;
    lock.unlock();
  }
}

std::atomic<unsigned> g_sequence;
std::atomic<int> g_first, g_second;

void sequence(int number) {
  for (int i = 1; i <= kRounds; ++i) {
    if (number == 0) {
      ++g_sequence;
      g_first = i;
      g_second = i;
      ++g_sequence;
      continue;
    }
    for (;;) {
      const unsigned before = g_sequence;
      const bool same = g_first == g_second;
      if (before % 2 == 1 || g_sequence != before) continue;
      if (!same) std::abort();
      break;
    }
  }
}

std::atomic<int> g_stage;
int g_data;

template <bool kYields>
void stages(int number) {
  while (g_stage != number)
    if (kYields) sched_yield();
  ++g_data;
  ++g_stage;
}

int g_threads;
std::atomic<int> g_left;
std::atomic<bool> g_sense;

void barrier(int) {
  bool sense = false;
  for (int i = 0; i < 2 * kRounds; ++i) {
    sense = !sense;
    if (--g_left == 0) {
      g_left = g_threads;
      g_sense = sense;
    }
    while (g_sense != sense) {
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string kind = arguments[1];
  g_left = g_threads = std::atoi(arguments[2]);
  void (*const work)(int) = kind == "tas"          ? counts<TestAndSet>
                            : kind == "back_off"   ? counts<BackOff>
                            : kind == "ttas"       ? counts<TestTestAndSet>
                            : kind == "ticket"     ? counts<Ticket>
                            : kind == "mcs"        ? counts<Mcs>
                            : kind == "seqlock"    ? sequence
                            : kind == "flag"       ? stages<false>
                            : kind == "flag_yield" ? stages<true>
                            : kind == "barrier"    ? barrier
                                                   : nullptr;
  if (work == nullptr) return 2;
  std::vector<std::thread> threads;
  for (int i = 0; i < g_threads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}
