// Three tellers pay into one account; each reads the balance, adds, and writes it back without a
// lock. A payment made between another teller's read and write disappears.
// ROOT CAUSE: lost_update_c.c:22; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTellers = 3 };

struct account {
  long balance;
  int payments;
};

static struct account account;

static void* teller(void* arg) {
  int payments = *(int*)arg;
  for (int i = 0; i < payments; i++) {
    account.balance += 10;
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
