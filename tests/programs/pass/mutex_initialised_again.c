// A session is put back to its first state by its owner, but for its lock.
// EXPECT: pass
#include <pthread.h>
#include <stdio.h>

typedef struct {
  pthread_mutex_t mutex;
  int requests;
} session;

static session shared = {PTHREAD_MUTEX_INITIALIZER, 0};

static void* request(void* unused) {
  pthread_mutex_lock(&shared.mutex);
  shared.requests++;
  pthread_mutex_unlock(&shared.mutex);
  return unused;
}

static void reset(session* of) {
  pthread_mutex_lock(&of->mutex);
  of->requests = 0;
  pthread_mutex_unlock(&of->mutex);
}

int main(void) {
  pthread_t worker;
  pthread_create(&worker, NULL, request, NULL);
  reset(&shared);
  pthread_join(worker, NULL);
  printf("%d requests\n", shared.requests);
  return 0;
}
