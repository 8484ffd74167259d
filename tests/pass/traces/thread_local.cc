// FLAGS: -O1 -g
// A thread's own variable is shared as soon as somebody else may know its address: another file, or
// whoever finds the address where it was stored.
static thread_local int quiet;      // only accessed
static thread_local int published;  // its address is stored
static thread_local int passed;     // its address is given to a function
thread_local int named;             // other files can name it
static thread_local struct {
  int first;
  int second[4];
} fields;  // only accessed

int* volatile board;
void keep(int* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

__attribute__((noinline)) int accesses(int n) {
  quiet += n;
  fields.second[n & 3] = quiet;
  published += n;
  passed += n;
  named += n;
  return fields.second[n & 1];
}

__attribute__((annotate("clew_no_yield"))) int main(int argc, char**) {
  board = &published;
  keep(&passed);
  return accesses(argc - 1) + quiet;
}
// TRACE: 19 Load
// TRACE: 19 Store
// TRACE: 20 Load
// TRACE: 20 Store
// TRACE: 21 Load
// TRACE: 21 Store
