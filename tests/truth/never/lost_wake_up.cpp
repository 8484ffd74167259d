// A wake-up that is lost: nobody holds what is waited for.
// clew: debug --seed 1
// shows: deadlock
// never: waits for condition variable [^;]*, held by
// never: waits for mutex
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void* waits(void*) {
  pthread_mutex_lock(&lock);
  pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return nullptr;
}

void* signals(void*) {
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, waits, nullptr);
  pthread_create(&second, nullptr, signals, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
}
