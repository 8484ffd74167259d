// The run without any preemption fails; with one preemption it passes.
// clew: debug --seed 1
// shows: isolated: |The failing run needs no preemption
// never: none with fewer
// never: \(\d\d+ places
#include <assert.h>
#include <pthread.h>

int balance;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void* set(void*) {
  pthread_mutex_lock(&lock);
  balance += 2;
  balance = 5;
  pthread_mutex_unlock(&lock);
  return nullptr;
}

void* add(void*) {
  pthread_mutex_lock(&lock);
  balance += 2;
  pthread_mutex_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, set, nullptr);
  pthread_create(&second, nullptr, add, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
  assert(balance != 7);
}
