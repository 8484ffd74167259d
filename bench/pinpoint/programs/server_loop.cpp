// The server loop of Tzoref, Ur, Yom-Tov 2007 (section 5.1, figure 6), rebuilt from the prose: a server
// loops until `stop` is set, and waits for requests inside of the lock. Stop is read and written
// outside of it: if shutdown comes between the read of stop and the wait, its notification is lost
// and the server waits for ever.
//
// As in Java, where an object's monitor is reached through a reference, the lock is read from a shared
// variable before it is taken. The client waits for each answer, so that the last turn of the server is
// one without a request.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Monitor {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

constexpr int kRequests = 3;

Monitor the_monitor;
Monitor the_answers;
Monitor* volatile lock = nullptr;
Monitor* volatile answers_lock = nullptr;
volatile bool stop = false;
volatile bool request = false;  // guarded by the lock, as is all business
volatile int amount = 0;
volatile int balance = 100;
volatile int fees = 0;
volatile int transactions = 0;
volatile int answered = 0;  // guarded by the lock of the answers
volatile int started = 0;   // written by one thread after the other
volatile int turns = 0;     // written by the server, read by others, as are the next three
volatile int load = 0;
volatile int uptime = 0;
volatile int health = 100;
volatile int last_balance = 0;

void commit() {
  balance = balance - amount;
  fees = fees + 1;
  balance = balance - 1;
  transactions = transactions + 1;
  request = false;
}

void answer() {
  Monitor* monitor = answers_lock;
  pthread_mutex_lock(&monitor->mutex);
  answered = answered + 1;
  last_balance = balance;
  pthread_cond_signal(&monitor->condition);
  pthread_mutex_unlock(&monitor->mutex);
}

// Business that is not guarded: what the server tells about itself.
void tell_state() {
  turns = turns + 1;
  load = transactions * 10 / turns;
  uptime = uptime + load;
  health = health - 1;
  if (load > 5) health = health + 1;
}

void* server(void*) {
  started = started + 1;
  while (!stop) {
    tell_state();
    Monitor* monitor = lock;
    pthread_mutex_lock(&monitor->mutex);
    if (request) {
      commit();
      answer();
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

void wait_for_answer(int number) {
  Monitor* monitor = answers_lock;
  pthread_mutex_lock(&monitor->mutex);
  while (answered < number) pthread_cond_wait(&monitor->condition, &monitor->mutex);
  if (last_balance > 100 || turns < 0 || load < 0 || uptime < 0 || health < 0) std::abort();
  pthread_mutex_unlock(&monitor->mutex);
}

void* client(void*) {
  started = started + 1;
  for (int i = 1; i <= kRequests; ++i) {
    submit(10 * i);
    wait_for_answer(i);
  }
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
  answers_lock = &the_answers;
  const pthread_t worker = start(server);
  lock = &the_monitor;
  answers_lock = &the_answers;
  started = started + 1;
  const pthread_t customer = start(client);
  pthread_join(customer, nullptr);
  shut_down();
  pthread_join(worker, nullptr);
  std::printf("%d transactions, balance %d, fees %d, %d turns\n", static_cast<int>(transactions),
              static_cast<int>(balance), static_cast<int>(fees), static_cast<int>(turns));
  return 0;
}
