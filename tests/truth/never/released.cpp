// The race is between the release of an object and its use: there are schedules that fail.
// clew: hunt --strategy exhaustive --bound 1 --keep-going
// shows: found
// never: schedules? with at most \d+ preemptions? pass
#include <assert.h>
#include <pthread.h>

struct Box {
  int value;
};
Box* box = new Box{11};

void* releases(void*) {
  Box* const old = box;
  box = nullptr;
  delete old;
  return nullptr;
}

void* uses(void*) {
  Box* const mine = box;
  if (mine != nullptr) assert(mine->value == 11);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, uses, nullptr);
  pthread_create(&second, nullptr, releases, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
