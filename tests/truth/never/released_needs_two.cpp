// A release is what the failure with the fewest preemptions is about.
// clew: debug --seed 3
// shows: isolated:
// never: [2-9] preemptions? \(.*none with fewer
#include <assert.h>
#include <pthread.h>

struct Box {
  int value;
};
Box* box = new Box{11};
int total;

void* releases(void*) {
  Box* const old = box;
  box = nullptr;
  delete old;
  total += 1;
  return nullptr;
}

void* uses(void*) {
  if (Box* const mine = box; mine != nullptr) {
    total += 2;
    assert(mine->value == 11);
  }
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, releases, nullptr);
  pthread_create(&second, nullptr, uses, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
