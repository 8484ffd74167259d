// The non-monotonic program of Tzoref, Ur, Yom-Tov 2007 (figure 1), rebuilt from the prose: a shared
// divisor that one thread checks and divides by, and that another sets to several values, 0 among
// them. It fails if T1 is switched away from between lines 2 and 3 and T2 between lines 4 and 5.
//
// The two threads are started for several rounds, as noise is made before or after an event by the
// toss of a coin, and a round needs one to be before and the other after.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kRounds = 20;

volatile int x = 1;
volatile int y = 0;
volatile int rounds_done = 0;
volatile int last_quotient = 0;
volatile bool over = false;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

// The main thread's part, which the paper's figure leaves out: it tells a thread that keeps a record.
void* keep_record(void*) {
  pthread_mutex_lock(&mutex);
  while (!over) {
    pthread_cond_wait(&changed, &mutex);
    last_quotient = y;
  }
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

void end_round() {
  pthread_mutex_lock(&mutex);
  rounds_done = rounds_done + 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

// A division by zero ends the program, as an exception that nobody catches does in Java.
int quotient(int dividend, int divisor) {
  if (divisor == 0) std::_Exit(3);
  return dividend / divisor;
}

void* divide(void*) {
  x = 1;                  // T1.1
  if (x != 0)             // T1.2
    y = quotient(12, x);  // T1.3
  return nullptr;
}

void* change(void*) {
  x = 1;  // T2.1
  x = 2;  // T2.2
  x = 3;  // T2.3
  x = 0;  // T2.4
  x = 4;  // T2.5
  return nullptr;
}

pthread_t start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) std::exit(2);
  return thread;
}

}  // namespace

int main() {
  const pthread_t record = start(keep_record);
  for (int round = 0; round < kRounds; ++round) {
    x = 1;
    y = 0;
    const pthread_t t1 = start(divide);
    const pthread_t t2 = start(change);
    pthread_join(t1, nullptr);
    pthread_join(t2, nullptr);
    end_round();
  }
  pthread_mutex_lock(&mutex);
  over = true;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(record, nullptr);
  std::printf("%d rounds, y = %d\n", static_cast<int>(rounds_done), static_cast<int>(y));
  return 0;
}
