// A worker sleeps for a moment before it uses the configuration, which the main thread is sure to
// have read by then. Nothing but the sleep says so.
// ROOT CAUSE: sleeping_init.c:36; KIND: order-violation
// PREEMPTIONS: 1; CHOICES: 2 (the sleep ends early, and its thread runs at once)
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { kEntries = 8 };

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static int logged;
static volatile int entries[kEntries];
static volatile int* volatile config;
#ifdef FIXED
static pthread_mutex_t config_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t config_there = PTHREAD_COND_INITIALIZER;
#endif

static void log_line(void) {
  pthread_mutex_lock(&log_mutex);
  logged++;
  pthread_mutex_unlock(&log_mutex);
}

static void* work(void* arg) {
  (void)arg;
  log_line();
#ifdef FIXED
  pthread_mutex_lock(&config_mutex);
  while (config == NULL) pthread_cond_wait(&config_there, &config_mutex);
  pthread_mutex_unlock(&config_mutex);
#else
  usleep(100 * 1000);
#endif
  log_line();
  assert(config != NULL && config[kEntries - 1] == kEntries);
  log_line();
  return NULL;
}

int main(int argc, char** argv) {
  int workers = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t thread[16];
  for (int i = 0; i < workers; i++) pthread_create(&thread[i], NULL, work, NULL);
  for (int i = 0; i < kEntries; i++) {
    log_line();
    entries[i] = i + 1;
  }
#ifdef FIXED
  pthread_mutex_lock(&config_mutex);
#endif
  config = entries;
#ifdef FIXED
  pthread_cond_broadcast(&config_there);
  pthread_mutex_unlock(&config_mutex);
#endif
  for (int i = 0; i < workers; i++) pthread_join(thread[i], NULL);
  return 0;
}
