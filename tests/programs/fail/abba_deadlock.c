// Two transfers in opposite directions each lock the paying account first, then the receiving one.
// When each has its first lock, both wait for the other's.
// ROOT CAUSE: abba_deadlock.c:21; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t mutex;
  int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 100};
static int transfers = 1;

static void transfer(struct account* from, struct account* to, int amount) {
  pthread_mutex_lock(&from->mutex);
  pthread_mutex_lock(&to->mutex);
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&to->mutex);
  pthread_mutex_unlock(&from->mutex);
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
