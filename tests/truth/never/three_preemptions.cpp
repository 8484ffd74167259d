// It fails with three preemptions and not with two.
// clew: hunt --strategy exhaustive --bound 2 --keep-going
// shows: with at most 2 preemptions
// never: also with more preemptions
#include <assert.h>
#include <pthread.h>

int x, y, z, w;
bool one, two, three;

void* waits(void*) {
  one = x == 0;
  two = y == 1;
  three = z == 2;
  w = one && two && three ? 1 : 0;
  return nullptr;
}

void* steps(void*) {
  y = 1;
  z = 2;
  x = 1;
  y = 3;
  z = 4;
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, waits, nullptr);
  pthread_create(&second, nullptr, steps, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
