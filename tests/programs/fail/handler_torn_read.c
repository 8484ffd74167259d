// A signal handler changes two numbers that belong together; the thread it interrupts reads one of
// them before and the other one after.
// ROOT CAUSE: handler_torn_read.c:29; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t sent;
static volatile sig_atomic_t bytes;
static pthread_t reader;

static void on_progress(int signal) {
  (void)signal;
  ++sent;
  bytes += 100;
}

static void* send_blocks(void* unused) {
  for (int i = 0; i < 2; ++i) pthread_kill(reader, SIGUSR1);
  return unused;
}

static int show_progress(void) {
  for (int i = 0; i < 3; ++i) {
    const int sent_now = sent;
    // SIGUSR1 is not blocked between the two.
    const int bytes_now = bytes;
    if (bytes_now != sent_now * 100) {
      fprintf(stderr, "%d blocks, %d bytes\n", sent_now, bytes_now);
      return 1;
    }
  }
  return 0;
}

int main(void) {
  signal(SIGUSR1, on_progress);
  reader = pthread_self();
  pthread_t sender;
  pthread_create(&sender, NULL, send_blocks, NULL);
  const int wrong = show_progress();
  pthread_join(sender, NULL);
  return wrong;
}
