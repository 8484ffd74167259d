// The server loop of Tzoref, Ur, Yom-Tov 2007 (section 5.1, figure 6), rebuilt from the prose: a server
// loops until `stop` is set, and waits for requests inside of the lock. Stop is read and written
// outside of it: if shutdown comes between the read of stop and the wait, its notification is lost
// and the server waits for ever.
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
Monitor* volatile lock = nullptr;
volatile bool stop = false;
volatile int requests = 0;   // waiting to be served; guarded by the lock
volatile int balance = 100;  // the business; guarded by the lock
volatile int served = 0;
volatile int turns = 0;

void serve_one() {
  requests = requests - 1;
  balance = balance - 10;
  balance = balance + 11;
  served = served + 1;
}

void* server(void*) {
  while (!stop) {
    turns = turns + 1;
    Monitor* monitor = lock;
    pthread_mutex_lock(&monitor->mutex);
    if (requests > 0) {
      serve_one();
    } else {
      pthread_cond_wait(&monitor->condition, &monitor->mutex);
    }
    pthread_mutex_unlock(&monitor->mutex);
  }
  return nullptr;
}

void submit() {
  Monitor* monitor = lock;
  pthread_mutex_lock(&monitor->mutex);
  requests = requests + 1;
  pthread_cond_signal(&monitor->condition);
  pthread_mutex_unlock(&monitor->mutex);
}

void* client(void*) {
  for (int i = 0; i < kRequests; ++i) submit();
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
  const pthread_t customer = start(client);
  lock = &the_monitor;
  const pthread_t worker = start(server);
  pthread_join(customer, nullptr);
  shut_down();
  pthread_join(worker, nullptr);
  std::printf("%d served, balance %d, %d turns\n", static_cast<int>(served),
              static_cast<int>(balance), static_cast<int>(turns));
  return 0;
}
