// Two pairs of accesses must both be in an order for it to fail: neither order alone decides.
// clew: debug --seed 1
// shows: isolated:
// never: [Ii]n this order the program fails
// never: in the other it passes
#include <assert.h>
#include <pthread.h>

int x, y, seen_x, seen_y;

void* writer(void*) {
  x = 1;
  y = 1;
  x = 2;
  return nullptr;
}

void* reader(void*) {
  seen_y = y;
  seen_x = x;
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, writer, nullptr);
  pthread_create(&second, nullptr, reader, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
  assert(!(seen_y == 0 && seen_x == 2));
}
