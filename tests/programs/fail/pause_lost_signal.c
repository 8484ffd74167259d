// The main thread looks at the flag that a handler sets and then waits for the signal. A signal that
// arrives between the two is handled, and the wait is for another one, which nobody sends.
// ROOT CAUSE: pause_lost_signal.c:33; KIND: lost-wakeup
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static pthread_t main_thread;

static void on_term(int signal) {
  (void)signal;
  stop = 1;
}

static void* serve(void* unused) {
  pthread_kill(main_thread, SIGTERM);
  return unused;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, NULL);
  main_thread = pthread_self();
  pthread_t server;
  pthread_create(&server, NULL, serve, NULL);
  while (!stop) pause();
  pthread_join(server, NULL);
  puts("stopped");
  return 0;
}
