// A preemption anywhere in four lines leads to the failure.
// clew: debug --seed 1
// shows: places
// never: one step earlier or later, it does not
// never: The failing run needs no preemption
#include <assert.h>
#include <pthread.h>

int x, y, a, b, c;

void* moves(void*) {
  x = 1;
  a += 1;
  b += 1;
  c += 1;
  y = 1;
  return nullptr;
}

void* reads(void*) {
  const int seen_y = y;
  const int seen_x = x;
  assert(seen_x == seen_y);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, moves, nullptr);
  pthread_create(&second, nullptr, reads, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
