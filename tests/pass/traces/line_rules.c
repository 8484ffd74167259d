// FLAGS: -O0 -g -mllvm -clew-yield=line
int shared, other;
int sched_yield(void);

int helper(int x) {
  return x + 1;
}

int several_returns(int x) {
  if (x)
    return 1;
  return 2;
}

void all(void) {
  int local = 0;
  shared = other;
  for (int i = 0; i < 2; i++)
    local += i;
  sched_yield();
  helper(local);
  shared = helper(3);
  several_returns(0);
  while (local < 3) local++;
}

__attribute__((annotate("clew_no_yield"))) int main(void) { all(); }
// TRACE: 15 Entry
// TRACE: 16 Line
// TRACE: 17 Load
// TRACE: 17 Store
// TRACE: 18 Line
// TRACE: 19 Line
// TRACE: 18 Line
// TRACE: 19 Line
// TRACE: 18 Line
// TRACE: 20 SyncCall
// TRACE: 21 Line
// TRACE: 5 Entry
// TRACE: 6 Line
// TRACE: 22 Line
// TRACE: 5 Entry
// TRACE: 6 Line
// TRACE: 22 Store
// TRACE: 23 Line
// TRACE: 9 Entry
// TRACE: 10 Line
// TRACE: 12 Line
// TRACE: 24 Line
// TRACE: 24 Line
// TRACE: 24 Line
