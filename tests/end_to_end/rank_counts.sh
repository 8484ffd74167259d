#!/bin/bash
# The calls that clew rank counts are those that the program itself counts, at -O0, -O1 and -O2.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

# Each function says who called it; main prints how often. What the compiler may inline is inlined.
cat >calls.cpp <<'CODE'
#include <pthread.h>
#include <setjmp.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

std::mutex table_mutex;
std::map<std::string, int> table;
__attribute__((noinline)) void note(const char* edge) {
  std::lock_guard<std::mutex> lock(table_mutex);
  ++table[edge];
}
#define CALLED(by, me) note(by " -> " me)

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int) const = 0;
};
int square(int x) { CALLED("Square::area", "square"); return x * x; }
struct Square final : Shape {
  int area(int x) const override { CALLED("measure", "Square::area"); return square(x); }
};
struct Line final : Shape {
  int area(int) const override { CALLED("measure", "Line::area"); return 0; }
};
__attribute__((noinline)) int measure(const Shape& shape, int x) { CALLED("main", "measure"); return shape.area(x); }

int even(int n);
__attribute__((noinline)) int odd(int n) { CALLED("even", "odd"); return n == 0 ? 0 : even(n - 1); }
__attribute__((noinline)) int even(int n) {
  n == 9 ? CALLED("main", "even") : CALLED("odd", "even");
  return n == 0 ? 1 : odd(n - 1);
}

int factorial(int n, bool first) {
  first ? CALLED("main", "factorial") : CALLED("factorial", "factorial");
  return n < 2 ? 1 : n * factorial(n - 1, false);
}

__attribute__((noinline)) int add_one(int x) { CALLED("main", "add_one"); return x + 1; }
inline int twice(int x) { CALLED("main", "twice"); return 2 * x; }

int compare(const void* a, const void* b) {
  CALLED("sort_c", "compare");
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
__attribute__((noinline)) void sort_c(std::vector<int>& v) { CALLED("main", "sort_c"); qsort(v.data(), v.size(), sizeof(int), compare); }

struct Error {};
__attribute__((noinline)) void risky(int x) {
  CALLED("attempt", "risky");
  if (x % 3 == 0) throw Error();
}
__attribute__((noinline)) void recover() { CALLED("attempt", "recover"); }
__attribute__((noinline)) void attempt(int x) {
  CALLED("main", "attempt");
  try {
    risky(x);
  } catch (const Error&) {
    recover();
  }
}

jmp_buf back;
__attribute__((noinline)) void deep(int n) {
  n == 3 ? CALLED("jumps", "deep") : CALLED("deep", "deep");
  if (n == 0) longjmp(back, 1);
  deep(n - 1);
}
__attribute__((noinline)) void landed() { CALLED("jumps", "landed"); }
__attribute__((noinline)) void jumps() {
  CALLED("main", "jumps");
  if (setjmp(back) == 0) deep(3);
  landed();
}

__attribute__((noinline)) void step() { CALLED("worker", "step"); }
void worker(int n) {
  CALLED("start_threads", "worker");
  for (int i = 0; i < n; ++i) step();
}
void* c_worker(void*) {
  CALLED("start_threads", "c_worker");
  return nullptr;
}
__attribute__((noinline)) void start_threads() {
  CALLED("main", "start_threads");
  std::thread first(worker, 3);
  std::thread second(worker, 4);
  pthread_t third;
  pthread_create(&third, nullptr, c_worker, nullptr);
  first.join();
  second.join();
  pthread_join(third, nullptr);
}

// Inlined code with yield points of its own and right before it. It has no notes, which would be calls: how often it is called is known.
struct Board {
  std::atomic<unsigned> version{0};
  std::atomic<int> bid{100}, ask{101};
  bool read(int& low, int& high) const {
    const unsigned before = version.load();
    if (before & 1) return false;
    low = bid.load();
    high = ask.load();
    return true;
  }
};
struct Trader {
  const Board& board;
  int odd = 0, trades = 0;
  void trade() {
    int low = 0, high = 0;
    if (!board.read(low, high)) return;
    if (high - low != 1) ++odd;
    ++trades;
  }
  __attribute__((noinline)) void run() {
    for (int i = 0; i < 6; ++i) trade();
  }
};
void trade_twice() {
  const Board board;
  Trader anna{board}, ben{board};
  std::thread first(&Trader::run, &anna);
  std::thread second(&Trader::run, &ben);
  first.join();
  second.join();
  std::printf("Trader::run -> Trader::trade 12\nTrader::trade -> Board::read 12\ntrade_twice -> std::thread::thread 2\n");
}

int main() {
  trade_twice();
  const Square a;
  const Line b;
  for (int i = 0; i < 4; ++i) measure(a, i);
  measure(b, 1);
  even(9);
  factorial(5, true);
  int (*pointer)(int) = add_one;
  std::function<int(int)> function = add_one;
  for (int i = 0; i < 3; ++i) pointer(i);
  for (int i = 0; i < 5; ++i) function(i);
  int sum = 0;
  for (int i = 0; i < 6; ++i) sum += twice(i);
  std::vector<int> numbers{5, 3, 9, 1, 7};
  sort_c(numbers);
  for (int i = 0; i < 7; ++i) attempt(i);
  jumps();
  start_threads();
  for (const auto& [edge, count] : table) std::printf("%s %d\n", edge.c_str(), count);
  return sum == 30 ? 0 : 1;
}
CODE
# All calls that the program has counted, as the table has them in each run. Optimised, recursion that became a loop and a call
# inlined into a loop that was unrolled are counted less often, never more often; clew says so.
same() {
  python3 - "$1" <<'PY'
import csv
import subprocess
import sys
level = sys.argv[1]
own = {}
for line in subprocess.run([f"./calls{level}"], capture_output=True, text=True, check=False).stdout.splitlines():
    edge, count = line.rsplit(" ", 1)
    own[edge] = int(count)
assert len(own) > 20, own
rows = list(csv.reader(open("table.csv")))
columns = {name: {int(v) for v in values} for name, *values in zip(*rows) if name != "class"}
lost = set() if level == "-O0" else {"deep -> deep", "Trader::run -> Trader::trade", "Trader::trade -> Board::read", "factorial -> factorial", "main -> twice"}
wrong = []
for edge, count in own.items():
    counted = columns.get(edge, {0})
    right = max(counted) <= count if edge in lost else counted == {count}
    if not right:
        wrong.append(f"{edge}: {count} by the program, {sorted(counted)} by clew")
print("\n".join(wrong))
sys.exit(len(wrong) > 0)
PY
}
for level in -O0 -O1 -O2; do
  check "built with $level" "$clew" c++ -std=c++20 -g "$level" calls.cpp -o "calls$level" -pthread
  check "counted" run 0 rank --seed 1 --schedules 20 --all --evidence calls --permutations 0 --csv table.csv -- "./calls$level"
  check "... the calls are those that the program counts" same "$level"
  [[ $level == -O0 ]] || check "... and what may be lost is said" grep -q 'was optimised' err.txt
done
finish
