// It fails whatever the schedule.
// clew: debug --seed 1
// shows: not isolated
// never: (?<!not )isolated:
// never: The failure happens when
// never: none with fewer
// never: The program passes when
#include <assert.h>
#include <pthread.h>

int x;

void* adds(void*) {
  __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, adds, nullptr);
  pthread_create(&second, nullptr, adds, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
  assert(x != 2);
}
