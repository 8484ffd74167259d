// FLAGS: -O1 -g -fno-inline -fno-unroll-loops -fno-vectorize
// Back edges and entries only where nothing else would be passed.
int shared;
volatile int sink;
__attribute__((annotate("clew_no_yield"), noinline)) int opaque(int x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}

int leaf(int x) { return x * 3 + 1; }

int spin(int n) {
  int x = n;
  do {
    __asm__ volatile("" : "+r"(x));
  } while (--x > 0);
  return x;
}

void touching(int n) {
  for (int i = 0; i < n; i++) sink = i;
}

void only_calls(void) { opaque(1); }

int recursive(int n) {
  if (n == 0) return 0;
  shared++;
  return recursive(n - 1) + 1;
}

__attribute__((annotate("clew_no_yield"))) int main(void) {
  leaf(2);
  spin(3);
  touching(2);
  only_calls();
  return recursive(2) - 2;
}
// TRACE: 16 BackEdge
// TRACE: 16 BackEdge
// TRACE: 16 BackEdge
// TRACE: 21 Store
// TRACE: 21 Store
// TRACE: 24 Entry
// TRACE: 28 Load
// TRACE: 28 Store
// TRACE: 28 Load
// TRACE: 28 Store
