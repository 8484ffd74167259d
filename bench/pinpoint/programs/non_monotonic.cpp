// The non-monotonic program of Tzoref, Ur, Yom-Tov 2007 (figure 1), rebuilt from the prose: a shared
// divisor that one thread checks and divides by, and that another sets to several values, 0 among
// them. It fails if T1 is switched away from between lines 2 and 3 and T2 between lines 4 and 5.
//
// As in Java, where a statement is several steps, each assignment of T2 is counted, and what T1 divides is
// read before what it divides by. The threads are started for a few rounds: a round needs the two delays to
// end in the right order.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kRounds = 3;

volatile int x = 1;
volatile int y = 0;
volatile int total = 12;
volatile int changes = 0;
volatile bool over = false;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

// The main thread's part, which the paper's figure leaves out: it tells another one when all is over.
void* wait_for_end(void*) {
  pthread_mutex_lock(&mutex);
  while (!over) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

// A division by zero ends the program, as an exception that nobody catches does in Java.
int quotient(int dividend, int divisor) {
  if (divisor == 0) std::_Exit(3);
  return dividend / divisor;
}

void* divide(void*) {
  x = 1;                     // T1.1
  if (x != 0)                // T1.2
    y = quotient(total, x);  // T1.3
  return nullptr;
}

// A line for each statement of the figure.
// clang-format off
void* change(void*) {
  x = 1; changes = changes + 1;  // T2.1
  x = 2; changes = changes + 1;  // T2.2
  x = 3; changes = changes + 1;  // T2.3
  x = 0; changes = changes + 1;  // T2.4
  x = 4; changes = changes + 1;  // T2.5
  return nullptr;
}
// clang-format on

pthread_t start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) std::exit(2);
  return thread;
}

}  // namespace

int main() {
  const pthread_t waiter = start(wait_for_end);
  for (int round = 0; round < kRounds; ++round) {
    x = 1;
    y = 0;
    total = 12 + round;
    const pthread_t t1 = start(divide);
    const pthread_t t2 = start(change);
    pthread_join(t1, nullptr);
    pthread_join(t2, nullptr);
  }
  pthread_mutex_lock(&mutex);
  over = true;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(waiter, nullptr);
  std::printf("%d changes, y = %d\n", static_cast<int>(changes), static_cast<int>(y));
  return 0;
}
