// spawn_loop TIMES PROG ARGS...: starts a program and waits for it, TIMES times, as a script that
// looks for a failure without clew would. Prints the seconds of wall time and of processor time.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static double cpu_seconds(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  double start = now();
  for (long i = atol(argv[1]); i > 0; i--) {
    pid_t child;
    int status;
    if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) != 0) return 2;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  double wall = now() - start;
  printf("%.6f %.6f\n", wall, cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN));
  return 0;
}
