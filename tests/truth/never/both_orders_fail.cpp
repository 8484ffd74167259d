// It fails with either order of the two writes, if the reader comes between them.
// clew: debug --seed 1
// shows: isolated:
// never: in the other it passes
// never: in the other order it passes
#include <assert.h>
#include <pthread.h>

int count, half;

void* left(void*) {
  count += 1;
  return nullptr;
}

void* right(void*) {
  count += 1;
  return nullptr;
}

void* reader(void*) {
  half = count;
  return nullptr;
}

int main() {
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, left, nullptr);
  pthread_create(&threads[1], nullptr, right, nullptr);
  pthread_create(&threads[2], nullptr, reader, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  assert(half != 1);
}
