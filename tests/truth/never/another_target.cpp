// One step earlier the thread that runs next in the failing run does not exist yet.
// clew: debug --seed 412
// shows: isolated:
// never: preempted one step earlier, before [^,]*, the program passes
#include <assert.h>
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void* moves(void*) {
  pthread_mutex_lock(&m);
  if (y == 0) x = y;
  const int seen = y;
  pthread_mutex_unlock(&m);
  if (x != 0) y = seen;
  x = 2;
  return nullptr;
}

void* checks(void*) {
  pthread_mutex_lock(&m);
  if (x != 1) assert(x != 0);
  assert(x != 2);
  pthread_mutex_unlock(&m);
  y = x;
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, moves, nullptr);
  pthread_create(&second, nullptr, checks, nullptr);
  pthread_join(first, nullptr);
  return x == 9;
}
