// FLAGS: -O0 -g
// FORMAT: long
// Without optimisation a variable lives as long as its function: one point for all of them.
void keep(int* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

int two(int n) {
  int first[4] = {n};
  int second = n;
  keep(first);
  keep(&second);
  if (n > 1) return 1;
  return second;
}

int none(int n) {
  int mine = n;
  return mine;
}

__attribute__((annotate("clew_no_yield"))) int main() { return two(1) + none(0) - 1; }
// TRACE: /ends_O0.cc:7:18 _Z3twoi Store 4
// TRACE: /ends_O0.cc:7:18 _Z3twoi Store 4
// TRACE: /ends_O0.cc:7:18 _Z3twoi Store 4
// TRACE: /ends_O0.cc:7:18 _Z3twoi Store 4
// TRACE: /ends_O0.cc:8:7 _Z3twoi Store 4
// TRACE: /ends_O0.cc:12:10 _Z3twoi Load 4
// TRACE: /ends_O0.cc:13:1 _Z3twoi ScopeEnd 20
