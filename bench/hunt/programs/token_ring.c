// Three threads pass a token round: the first computes it, the second and the third copy it.
// Nothing makes them do so in order; the checker, if it runs last, then finds different tokens. With
// an argument it is as published: the main thread ends the program without joining anybody.
// ROOT CAUSE: token_ring.c:24; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int token[3] = {1, 2, 1};
static int passed;  // how many have passed it on
#ifdef FIXED
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
#endif

static void* pass_on(void* arg) {
  int self = (int)(intptr_t)arg;
  pthread_mutex_lock(&mutex);
#ifdef FIXED
  while (passed != self) pthread_cond_wait(&next, &mutex);
#endif
  token[self] = self == 0 ? (token[2] + 1) % 4 : token[self - 1];
  passed++;
#ifdef FIXED
  pthread_cond_broadcast(&next);
#endif
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* check(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  if (passed == 3) assert(token[0] == token[1] && token[1] == token[2]);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  (void)argv;
  pthread_t thread[4];
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, pass_on, (void*)(intptr_t)i);
  pthread_create(&thread[3], NULL, check, NULL);
  if (argc > 1) return 0;
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  return 0;
}
