// The release of an object races with its use; no other accesses tell that the order matters.
// clew: hunt --strategy exhaustive --bound 1 --keep-going
// shows: found
// never: schedules? with at most \d+ preemptions? pass
#include <assert.h>
#include <pthread.h>

struct Box {
  int value;
};
Box* box = new Box{11};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void* releases(void*) {
  pthread_mutex_lock(&lock);
  Box* const old = box;
  box = nullptr;
  pthread_mutex_unlock(&lock);
  delete old;
  return nullptr;
}

void* uses(void*) {
  pthread_mutex_lock(&lock);
  Box* const mine = box;
  pthread_mutex_unlock(&lock);
  if (mine != nullptr) assert(mine->value == 11);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, releases, nullptr);
  pthread_create(&second, nullptr, uses, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
