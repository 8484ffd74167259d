// fail/pause_lost_signal.c, fixed: the signal is blocked except during the wait.
// EXPECT: pass
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
  sigset_t term;
  sigset_t before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  main_thread = pthread_self();
  pthread_t server;
  pthread_create(&server, NULL, serve, NULL);
  while (!stop) sigsuspend(&before);
  pthread_join(server, NULL);
  puts("stopped");
  return 0;
}
