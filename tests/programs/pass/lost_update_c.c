// fail/lost_update_c.c, fixed: a teller holds the account's lock while it changes the balance.
// EXPECT: pass
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTellers = 3 };

struct account {
  pthread_mutex_t mutex;
  long balance;
  int payments;
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void* teller(void* arg) {
  int payments = *(int*)arg;
  for (int i = 0; i < payments; i++) {
    pthread_mutex_lock(&account.mutex);
    account.balance += 10;
    pthread_mutex_unlock(&account.mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int payments = argc > 1 ? atoi(argv[1]) : 5;
  pthread_t tellers[kTellers];
  for (int i = 0; i < kTellers; i++) pthread_create(&tellers[i], NULL, teller, &payments);
  for (int i = 0; i < kTellers; i++) pthread_join(tellers[i], NULL);

  long expected = 10L * kTellers * payments;
  printf("balance %ld, expected %ld\n", account.balance, expected);
  return account.balance == expected ? 0 : 1;
}
