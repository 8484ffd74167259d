// A deposit, a withdrawal and an audit, all under one lock. The audit expects a wrong sum, which
// shows only if it runs after both of the others. With an argument it is as published: the audit is
// created first, and the main thread ends the program without joining anybody.
// ROOT CAUSE: account.c:41; KIND: unknown
// PREEMPTIONS: 0
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { kStart = 100, kDeposit = 20, kWithdrawal = 30 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = kStart;
static int deposited, withdrawn;

static void* deposit(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  balance += kDeposit;
  deposited = 1;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* withdraw(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  balance -= kWithdrawal;
  withdrawn = 1;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* audit(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
#ifdef FIXED
  int expected = kStart + kDeposit - kWithdrawal;
#else
  int expected = kStart - kDeposit - kWithdrawal;
#endif
  if (deposited && withdrawn) assert(balance == expected);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char** argv) {
  (void)argv;
  pthread_t thread[3];
  if (argc > 1) {
    pthread_create(&thread[2], NULL, audit, NULL);
    pthread_create(&thread[0], NULL, deposit, NULL);
    pthread_create(&thread[1], NULL, withdraw, NULL);
    return 0;
  }
  pthread_create(&thread[0], NULL, deposit, NULL);
  pthread_create(&thread[1], NULL, withdraw, NULL);
  pthread_create(&thread[2], NULL, audit, NULL);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  return 0;
}
