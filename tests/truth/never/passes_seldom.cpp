// One schedule in ten passes: the failure depends on the schedule, and such schedules are not rare.
// clew: debug --seed 21
// shows: isolated:
// never: fails under every schedule
// never: no passing schedule
// never: are rare
#include <assert.h>
#include <pthread.h>

int x;

void increment() { x++; }

void* first_thread(void*) {
  increment();
  x = 3;
  return nullptr;
}

void* second_thread(void*) {
  x = 3;
  assert(x != 3);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, first_thread, nullptr);
  pthread_create(&second, nullptr, second_thread, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
