// A session is put back to its first state by its owner, who holds its lock: the lock as well. A
// worker that already waits for the lock is forgotten by it and waits for ever.
// ROOT CAUSE: mutex_initialised_again.c:26; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail deadlock
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
  pthread_mutex_init(&of->mutex, NULL);
  // Free as it is now, it can be locked and unlocked: nobody is known to wait.
  pthread_mutex_lock(&of->mutex);
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
