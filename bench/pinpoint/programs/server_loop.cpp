// The server loop of Tzoref, Ur, Yom-Tov 2007 (section 5.1, figure 6), rebuilt from the prose: a server
// loops until `stop` is set, and waits for requests inside of the lock. Stop is read and written
// outside of it: if shutdown comes between the read of stop and the wait, its notification is lost
// and the server waits for ever.
//
// As in Java, where an object's monitor is reached through a reference, the lock is read from a shared
// variable before it is taken. What the figure calls business code is database transactions: a request
// has several, and the server makes one in each turn of the loop, so that it need not finish a request in
// order to stop.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Monitor {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

constexpr int kRequests = 1;
constexpr int kTransactions = 1;  // of a request

Monitor the_monitor;
Monitor the_answers;
Monitor* volatile lock = nullptr;
volatile bool stop = false;
volatile bool request = false;  // guarded by the lock
volatile int amount = 0;        // likewise
volatile int balance = 100;     // written by the server, read by the client
volatile int fees = 0;
volatile int transactions = 0;
volatile int largest = 0;
volatile int turnover = 0;
volatile int reserve = 0;
volatile int taxes = 0;
volatile int points_earned = 0;
volatile int audit = 1;
volatile int accepted = 0;  // guarded by the lock of the answers
volatile int turns = 0;     // written by the server, read by the client, as are the next two
volatile int load = 0;
volatile int health = 100;

struct Request {
  int amount = 0;
  int left = 0;  // transactions
};

void commit(Request& current) {
  balance = balance - current.amount;
  fees = fees + 1;
  balance = balance - 1;
  transactions = transactions + 1;
  if (current.amount > largest) largest = current.amount;
  turnover = turnover + current.amount;
  reserve = reserve + current.amount / 10;
  taxes = taxes + current.amount / 20;
  points_earned = points_earned + 1;
  audit = audit * 31 + current.amount;
  current.left -= 1;
}

void accept(Request& current) {
  current = {amount, kTransactions};
  request = false;
  pthread_mutex_lock(&the_answers.mutex);
  accepted = accepted + 1;
  pthread_cond_signal(&the_answers.condition);
  pthread_mutex_unlock(&the_answers.mutex);
}

// Business that is not guarded: what the server tells about itself.
void tell_state() {
  turns = turns + 1;
  load = transactions / turns;
  health = health - load;
}

// One place in the code, as in Java: a compiler may copy the condition of a loop.
__attribute__((noinline)) bool must_stop() { return stop; }

void* server(void*) {
  Request current;
  while (!must_stop()) {
    if (current.left > 0) {
      commit(current);
      continue;
    }
    tell_state();
    Monitor* monitor = lock;
    pthread_mutex_lock(&monitor->mutex);
    if (request) {
      accept(current);
    } else {
      pthread_cond_wait(&monitor->condition, &monitor->mutex);
    }
    pthread_mutex_unlock(&monitor->mutex);
  }
  return nullptr;
}

void submit(int wanted) {
  Monitor* monitor = lock;
  pthread_mutex_lock(&monitor->mutex);
  amount = wanted;
  request = true;
  pthread_cond_signal(&monitor->condition);
  pthread_mutex_unlock(&monitor->mutex);
}

void wait_until_accepted(int number) {
  pthread_mutex_lock(&the_answers.mutex);
  while (accepted < number) pthread_cond_wait(&the_answers.condition, &the_answers.mutex);
  pthread_mutex_unlock(&the_answers.mutex);
}

void* client(void*) {
  for (int i = 1; i <= kRequests; ++i) {
    submit(10 * i);
    wait_until_accepted(i);
  }
  if (balance > 100 || fees < 0 || turnover < 0) std::abort();
  if (taxes > 100 || audit == 0 || turns < 0 || load < 0 || health > 100) std::abort();
  return nullptr;
}

void shut_down() {
  stop = true;
  Monitor* monitor = lock;
  pthread_mutex_lock(&monitor->mutex);
  pthread_cond_signal(&monitor->condition);
  pthread_mutex_unlock(&monitor->mutex);
}

pthread_t start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) std::exit(2);
  return thread;
}

}  // namespace

int main() {
  lock = &the_monitor;
  const pthread_t worker = start(server);
  lock = &the_monitor;
  const pthread_t customer = start(client);
  pthread_join(customer, nullptr);
  shut_down();
  pthread_join(worker, nullptr);
  std::printf("%d transactions, balance %d, fees %d, %d turns\n", static_cast<int>(transactions),
              static_cast<int>(balance), static_cast<int>(fees), static_cast<int>(turns));
  std::printf("turnover %d, reserve %d, taxes %d, %d points, audit %d\n",
              static_cast<int>(turnover), static_cast<int>(reserve), static_cast<int>(taxes),
              static_cast<int>(points_earned), static_cast<int>(audit));
  return 0;
}
