// FLAGS: -O0 -g
// What no other thread can reach makes no points.
#include <cstdlib>

struct Big {
  int values[20];
};

thread_local int mine;
extern thread_local int far;
thread_local int far = std::atoi("3");
const int table[] = {1, 2, 3};

void keep(int* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

int by_value(Big big) { return big.values[3]; }

// Initialising `far` passes two functions that only the compiler wrote.
int locals(int n) {
  int a[4] = {1, 2, 3, 4};
  Big copy = Big{};
  Big other = copy;
  mine = a[n] + other.values[n] + table[n] + n;
  mine += far;
  return mine;
}

int spilled(int n) {
  keep(&n);
  return n;
}

int escaping() {
  int a = 1;
  keep(&a);
  return a;
}

__attribute__((annotate("clew_no_yield"))) int main() {
  static Big big;
  by_value(big);
  locals(1);
  spilled(1);
  escaping();
}
// TRACE: 19 Entry
// TRACE: 0 Entry
// TRACE: 0 Entry
// TRACE: 28 Entry
// TRACE: 30 Load
// TRACE: 34 Store
// TRACE: 36 Load
