// FLAGS: -O2 -g
// A function without points stays so when the optimiser clones it: here for the constant argument.
#include <sched.h>

int shared;
int one() {
  __asm__ volatile("");
  return 1;
}

__attribute__((annotate("clew_no_yield"), noinline)) int silent(int (*function)()) {
  for (int i = 0; i < 3; ++i) shared += function();
  sched_yield();
  return shared;
}

__attribute__((annotate("clew_no_yield"))) int main() { return silent(one) - 3; }
// TRACE: - NoPointSite
