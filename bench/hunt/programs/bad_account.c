// N customers each withdraw everything from one account, if there is enough. Check and withdrawal
// each hold the lock, but release it in between, so that two customers can be paid.
// ROOT CAUSE: bad_account.c:20; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { kAmount = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = kAmount;

static void* withdraw(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  int enough = balance >= kAmount;
#ifndef FIXED
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&mutex);
#endif
  if (enough) balance -= kAmount;
  assert(balance >= 0);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  int customers = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* thread = calloc(customers, sizeof *thread);
  for (int i = 0; i < customers; i++) pthread_create(&thread[i], NULL, withdraw, NULL);
  for (int i = 0; i < customers; i++) pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
