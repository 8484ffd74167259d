// fail/abba_deadlock.c, fixed: both transfers lock the account with the lower number first.
// EXPECT: pass
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
  int number;
  pthread_mutex_t mutex;
  int balance;
};

static struct account alice = {1, PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {2, PTHREAD_MUTEX_INITIALIZER, 100};
static int transfers = 1;

static void transfer(struct account* from, struct account* to, int amount) {
  struct account* first = from->number < to->number ? from : to;
  struct account* second = first == from ? to : from;
  pthread_mutex_lock(&first->mutex);
  pthread_mutex_lock(&second->mutex);
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&second->mutex);
  pthread_mutex_unlock(&first->mutex);
}

static void* alice_pays(void* arg) {
  (void)arg;
  for (int i = 0; i < transfers; i++) transfer(&alice, &bob, 7);
  return NULL;
}

static void* bob_pays(void* arg) {
  (void)arg;
  for (int i = 0; i < transfers; i++) transfer(&bob, &alice, 5);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) transfers = atoi(argv[1]);
  pthread_t first, second;
  pthread_create(&first, NULL, alice_pays, NULL);
  pthread_create(&second, NULL, bob_pays, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  printf("alice %d, bob %d\n", alice.balance, bob.balance);
  return alice.balance + bob.balance == 200 ? 0 : 1;
}
