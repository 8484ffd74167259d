/* Other processes from a threaded program: fork, wait, posix_spawn, system, popen, exec, exit
 * statuses, signals to children.
 * EXPECT: pass */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

extern char** environ;

static int prepared, in_parent;
static void before_fork(void) { ++prepared; }
static void after_fork(void) { ++in_parent; }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static long counted;
static void* count(void* unused) {
  while (!stop) {
    pthread_mutex_lock(&mutex);
    ++counted;
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

static void test_fork(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    /* In a separate thread. */
    pthread_t thread;
    stop = 1;
    if (pthread_create(&thread, NULL, count, NULL) != 0) _exit(9);
    pthread_join(thread, NULL);
    if (write(ends[1], "child", 5) != 5) _exit(8);
    _exit(7);
  }
  close(ends[1]);
  char text[8] = {0};
  CHECK(read(ends[0], text, 5) == 5 && strcmp(text, "child") == 0);
  CHECK(read(ends[0], text, 1) == 0);
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(waitpid(pid, &status, 0) == -1 && errno == ECHILD);
  CHECK(prepared == 1 && in_parent == 1);
  close(ends[0]);
}

static void test_kill(void) {
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    for (;;) pause();
  CHECK(waitpid(pid, NULL, WNOHANG) == 0);
  CHECK(kill(pid, SIGTERM) == 0);
  siginfo_t info;
  CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED) == 0);
  CHECK(info.si_pid == pid && info.si_code == CLD_KILLED && info.si_status == SIGTERM);
}

static void test_programs(void) {
  CHECK(system("exit 3") == 3 << 8);
  FILE* out = popen("echo one; echo two", "r");
  CHECK(out != NULL);
  char line[16];
  CHECK(fgets(line, sizeof line, out) != NULL && strcmp(line, "one\n") == 0);
  CHECK(fgets(line, sizeof line, out) != NULL && strcmp(line, "two\n") == 0);
  CHECK(fgets(line, sizeof line, out) == NULL);
  CHECK(pclose(out) == 0);
  char* arguments[] = {"sh", "-c", "exit 5", NULL};
  pid_t pid;
  CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ) == 0);
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
  CHECK(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, arguments, environ) == ENOENT);
  pid = vfork();
  if (pid == 0) {
    execv("/bin/sh", arguments);
    _exit(1);
  }
  CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
}

int main(void) {
  CHECK(pthread_atfork(before_fork, after_fork, NULL) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, count, NULL) == 0);
  test_fork();
  test_kill();
  test_programs();
  stop = 1;
  CHECK(pthread_join(thread, NULL) == 0);
  puts("ok");
  return 0;
}
