// The lost notify of Tzoref, Ur, Yom-Tov 2007 (figure 2), rebuilt from the prose: a thread waits on a
// condition without a predicate, another notifies. If the notification comes first, the waiting
// thread waits for ever. Any delay of the waiting thread before it has the lock makes it fail.
//
// As in Java, where an object's monitor is reached through a reference, the lock is read from a shared
// variable before it is taken: main sets it while a thread for messages lives already.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Monitor {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

Monitor the_monitor;
Monitor* volatile lock = nullptr;
volatile int x = 0;
volatile int changes = 0;
volatile int log_lines = 0;
volatile bool log_closed = false;
pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t log_changed = PTHREAD_COND_INITIALIZER;

void log_line() {
  pthread_mutex_lock(&log_mutex);
  log_lines = log_lines + 1;
  pthread_cond_signal(&log_changed);
  pthread_mutex_unlock(&log_mutex);
}

void* write_log(void*) {
  pthread_mutex_lock(&log_mutex);
  while (!log_closed) pthread_cond_wait(&log_changed, &log_mutex);
  pthread_mutex_unlock(&log_mutex);
  return nullptr;
}

// What the figure has as x=1 or x=2, where Java makes several steps of it.
__attribute__((always_inline)) inline void set(int value) {
  x = value;
  changes = changes + 1;
}

void* wait_thread(void*) {
  set(1);
  set(1);
  set(1);
  set(1);
  set(1);
  Monitor* monitor = lock;
  pthread_mutex_lock(&monitor->mutex);
  pthread_cond_wait(&monitor->condition, &monitor->mutex);
  pthread_mutex_unlock(&monitor->mutex);
  set(1);
  return nullptr;
}

void* notify_thread(void*) {
  set(2);
  set(2);
  set(2);
  set(2);
  set(2);
  Monitor* monitor = lock;
  pthread_mutex_lock(&monitor->mutex);
  pthread_cond_signal(&monitor->condition);
  pthread_mutex_unlock(&monitor->mutex);
  set(2);
  return nullptr;
}

pthread_t start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) std::exit(2);
  return thread;
}

}  // namespace

int main() {
  const pthread_t log = start(write_log);
  lock = &the_monitor;
  log_line();
  const pthread_t waiter = start(wait_thread);
  const pthread_t notifier = start(notify_thread);
  log_line();
  pthread_join(waiter, nullptr);
  pthread_join(notifier, nullptr);
  pthread_mutex_lock(&log_mutex);
  log_closed = true;
  pthread_cond_signal(&log_changed);
  pthread_mutex_unlock(&log_mutex);
  pthread_join(log, nullptr);
  std::printf("x = %d, %d lines\n", static_cast<int>(x), static_cast<int>(log_lines));
  return 0;
}
