// Another thread reaches a thread_local variable by its address.
// clew: hunt --strategy exhaustive --bound 1 --keep-going
// shows: found
// never: schedules? with at most \d+ preemptions? pass
#include <assert.h>
#include <pthread.h>

thread_local int mine;
int* address;

void* owner(void*) {
  address = &mine;
  mine += 1;
  assert(mine == 1 || mine == 6);
  return nullptr;
}

void* other(void*) {
  if (address != nullptr) *address = 6;
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, owner, nullptr);
  pthread_create(&second, nullptr, other, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
