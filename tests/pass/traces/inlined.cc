// FLAGS: -O2 -g
// FORMAT: long
// Code of system headers counts where user code calls it.
#include <vector>

__attribute__((noinline)) int second(const std::vector<int>& v) {
  return v.at(1);
}

static inline int* step(int* p) {
  ++*p;
  return p;
}

__attribute__((noinline)) void twice(int* p) {
  step(p);
}

__attribute__((annotate("clew_no_yield"))) int main() {
  std::vector<int> v{1, 2};
  twice(&v[0]);
  return second(v) - 2;
}
// TRACE: /inlined.cc:11:3 _ZL4stepPi Load 4
// TRACE: /inlined.cc:11:3 _ZL4stepPi Store 4
// TRACE: /inlined.cc:7:12 _Z6secondRKSt6vectorIiSaIiEE Load 8
// TRACE: /inlined.cc:7:12 _Z6secondRKSt6vectorIiSaIiEE Load 8
// TRACE: /inlined.cc:7:12 _Z6secondRKSt6vectorIiSaIiEE Load 4
