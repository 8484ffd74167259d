// FLAGS: -O1 -g
// FORMAT: long
// What ends the life of memory is a point, with the size as far as the call says it; so is the end of
// a variable that others may point to.
#include <sys/mman.h>

#include <cstdlib>

int* volatile board;
void keep(int* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

struct Pair {
  long first, second;
};

__attribute__((noinline)) void frees(char* a, char* b, Pair* c, Pair* d, char* e) {
  std::free(a);
  board = static_cast<int*>(std::realloc(b, 5));
  delete c;
  delete[] d;
  ::munmap(e, 4096);
}

__attribute__((noinline)) int keeps_to_itself(int n) {
  int* mine = new int(n);
  *mine += n;
  const int result = *mine;
  delete mine;
  return result;
}

__attribute__((noinline)) int scopes(int n) {
  int private_one = n;
  for (int i = 0; i < n; i++) {
    int inner[4] = {i};
    keep(inner);
  }
  int outer = n;
  keep(&outer);
  return private_one;
}

__attribute__((annotate("clew_no_yield"))) int main() {
  char* page =
      static_cast<char*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  frees(static_cast<char*>(std::malloc(7)), static_cast<char*>(std::malloc(8)), new Pair(),
        new Pair[3](), page);
  return keeps_to_itself(1) + scopes(1) - 3;
}
// TRACE: /ends.cc:17:3 _Z5freesPcS_P4PairS1_S_ Free 0
// TRACE: /ends.cc:18:29 _Z5freesPcS_P4PairS1_S_ Free 0
// TRACE: /ends.cc:18:9 _Z5freesPcS_P4PairS1_S_ Store 8
// TRACE: /ends.cc:19:3 _Z5freesPcS_P4PairS1_S_ Free 16
// TRACE: /ends.cc:20:3 _Z5freesPcS_P4PairS1_S_ Free 0
// TRACE: /ends.cc:21:3 _Z5freesPcS_P4PairS1_S_ Free 4096
// TRACE: /ends.cc:35:20 _Z6scopesi Store 4
// TRACE: /ends.cc:35:20 _Z6scopesi BlockWrite 12
// TRACE: /ends.cc:37:3 _Z6scopesi ScopeEnd 16
// TRACE: /ends.cc:38:7 _Z6scopesi Store 4
// TRACE: /ends.cc:41:1 _Z6scopesi ScopeEnd 4
