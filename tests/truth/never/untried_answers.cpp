// It fails if a wait has a spurious wake-up, which the search does not try.
// clew: hunt --strategy exhaustive --bound 1
// shows: apart from spurious wake-ups
// never: pass \(any other
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

void* waits(void*) {
  pthread_mutex_lock(&lock);
  if (ready == 0) pthread_cond_wait(&changed, &lock);
  assert(ready == 1);
  pthread_mutex_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, waits, nullptr);
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, nullptr);
}
