// FLAGS: -O0 -g
// What no other thread can reach makes no points.

struct Big {
  int values[20];
};

static thread_local int mine;
const int table[] = {1, 2, 3};

void keep(int* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

int by_value(Big big) { return big.values[3]; }

int locals(int n) {
  int a[4] = {1, 2, 3, 4};
  Big copy = Big{};
  Big other = copy;
  mine = a[n] + other.values[n] + table[n] + n;
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
// TRACE: 23 Entry
// TRACE: 25 Load
// TRACE: 25 ScopeEnd
// TRACE: 29 Store
// TRACE: 31 Load
// TRACE: 31 ScopeEnd
