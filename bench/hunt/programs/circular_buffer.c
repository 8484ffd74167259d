// A writer and a reader take turns at a circular buffer by two flags. A thread that finds that it
// is not its turn skips to its next number instead of waiting: the numbers diverge.
// ROOT CAUSE: circular_buffer.c:37; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { kCapacity = 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int buffer[kCapacity];
static int first, next;
static int may_send = 1, may_receive = 0;
static int items = 7;

static void insert(int item) {
  buffer[next] = item;
  next = (next + 1) % kCapacity;
}

static int remove_first(void) {
  int item = buffer[first];
  first = (first + 1) % kCapacity;
  return item;
}

// With the mutex held: whether it is this thread's turn.
static int my_turn(const int* flag) {
#ifdef FIXED
  while (!*flag) pthread_cond_wait(&turn, &mutex);
#else
  (void)turn;
#endif
  return *flag;
}

static void hand_over(int* mine, int* other) {
  *mine = 0;
  *other = 1;
  pthread_cond_broadcast(&turn);
}

static void* send(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
    if (my_turn(&may_send)) {
      insert(i);
      hand_over(&may_send, &may_receive);
    }
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* receive(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&mutex);
    if (my_turn(&may_receive)) {
      assert(remove_first() == i);
      hand_over(&may_receive, &may_send);
    }
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) items = atoi(argv[1]);
  pthread_t sender, receiver;
  pthread_create(&sender, NULL, send, NULL);
  pthread_create(&receiver, NULL, receive, NULL);
  pthread_join(sender, NULL);
  pthread_join(receiver, NULL);
  return 0;
}
