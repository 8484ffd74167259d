// No other process can be created: the program gets EAGAIN, and continues. Also programs that
// cannot be started.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../conformance/help.h"

extern char** environ;

// Processes cannot be created from here on; threads can. clone3 is missing, as in an old kernel: a
// filter cannot see its flags, and libc uses clone instead.
static void allow_no_processes(void) {
  static int done;
  if (done) return;
  done = 1;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

// --- programs that cannot be started -------------------------------------------------------------

static char file[] = "/tmp/clew_processes_XXXXXX";
static void make_file(const char* content, mode_t mode) {
  const int fd = mkstemp(file);
  EXPECT_EQ(write(fd, content, strlen(content)), (ssize_t)strlen(content));
  EXPECT_EQ(fchmod(fd, mode), 0);
  close(fd);
}
static void remove_file(void) {
  unlink(file);
  strcpy(file + sizeof file - 7, "XXXXXX");
}
static char* arguments[] = {"program", NULL};
CASE(execve, not_there) {
  EXPECT_ERRNO(execve("/nowhere/at/all", arguments, environ), ENOENT);
  EXPECT_ERRNO(execvp("clew_nowhere", arguments), ENOENT);
  EXPECT_ERRNO(execve("/dev/null/a", arguments, environ), ENOTDIR);
}
CASE(execve, eacces) {
  make_file("", 0600);
  EXPECT_ERRNO(execve(file, arguments, environ), EACCES);
  remove_file();
}
// Errors that only the kernel detects. The program continues unchanged.
static volatile sig_atomic_t handled;
static void handle(int number) { handled += number == SIGUSR1; }
CASE(execve, no_program) {
  signal(SIGUSR1, handle);
  make_file("no program", 0700);
  EXPECT_ERRNO(execve(file, arguments, environ), ENOEXEC);
  remove_file();
  make_file("#!/nowhere/at/all\n", 0700);
  EXPECT_ERRNO(execve(file, arguments, environ), ENOENT);
  remove_file();
  EXPECT_ERRNO(execve("/tmp", arguments, environ), EACCES);
  handled = 0;
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
  signal(SIGUSR1, SIG_DFL);
}
static int one_more(void* number) { return *(int*)number + 1; }
CASE(clone, own_stack) {
  static char stack[64 * 1024] __attribute__((aligned(16)));
  int number = 41, status = 0;
  const pid_t pid = clone(one_more, stack + sizeof stack, SIGCHLD, &number);
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}
// A child runs in real time, and so does a thread that polls for its end.
CASE(waitpid, by_looking) {
  const pid_t pid = fork();
  if (pid == 0) {
    usleep(200000);
    _exit(7);
  }
  int status = 0, looks = 0;
  while (waitpid(pid, &status, WNOHANG) == 0 && looks < 1000) ++looks, usleep(10000);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(looks < 1000, 1);
}
CASE(execve, efault) { EXPECT_ERRNO(execve((char*)16, arguments, environ), EFAULT); }
CASE(posix_spawn, not_there) {
  pid_t pid;
  EXPECT_EQ(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, arguments, environ), ENOENT);
  make_file("", 0600);
  EXPECT_EQ(posix_spawn(&pid, file, NULL, NULL, arguments, environ), EACCES);
  remove_file();
  make_file("no program", 0700);
  EXPECT_EQ(posix_spawn(&pid, file, NULL, NULL, arguments, environ), ENOEXEC);
  remove_file();
  EXPECT_ERRNO(waitpid(-1, NULL, 0), ECHILD);
}
static int in_the_child(void* unused) {
  (void)unused;
  execve("/nowhere/at/all", arguments, environ);
  return errno;
}
CASE(fork, exec_fails_in_child) { EXPECT_EQ(in_child(in_the_child, NULL), ENOENT); }
CASE(system, not_found) { EXPECT_EQ(WEXITSTATUS(system("clew_nowhere 2>/dev/null")), 127); }

// --- no process ----------------------------------------------------------------------------------

static void* nothing(void* argument) { return argument; }
static void threads_still_work(void) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ((long)finish(start(nothing, (void*)5)), 5);
}
CASE(fork, eagain) {
  allow_no_processes();
  for (int i = 0; i < 3; ++i) EXPECT_ERRNO(fork(), EAGAIN);
  threads_still_work();
}
CASE(vfork, eagain) {
  allow_no_processes();
  EXPECT_ERRNO(vfork(), EAGAIN);
  threads_still_work();
}
CASE(clone, eagain) {
  allow_no_processes();
  EXPECT_ERRNO(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), EAGAIN);
  threads_still_work();
}
CASE(posix_spawn, eagain) {
  allow_no_processes();
  pid_t pid = 77;
  EXPECT_EQ(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ), EAGAIN);
  threads_still_work();
}
CASE(system, eagain) {
  allow_no_processes();
  EXPECT_EQ(WEXITSTATUS(system("true")), 127);  // POSIX: -1
}
CASE(popen, eagain) {
  allow_no_processes();
  EXPECT(popen("true", "r") == NULL);  // POSIX: and errno
}
CASE(waitpid, echild) {
  allow_no_processes();
  EXPECT_ERRNO(waitpid(-1, NULL, 0), ECHILD);
  threads_still_work();
}

// --- no thread -----------------------------------------------------------------------------------

static void allow_no_threads(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}
static pthread_barrier_t barrier;
static void* meet(void* argument) {
  pthread_barrier_wait(&barrier);
  return argument;
}
// The last case: no more threads can be created. Existing ones end as always.
CASE(pthread_create, eagain) {
  pthread_t threads[3], other;
  EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 4), 0);
  for (long i = 0; i < 3; ++i) threads[i] = start(meet, (void*)i);
  allow_no_threads();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pthread_create(&other, NULL, nothing, NULL), EAGAIN);
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < 3; ++i) EXPECT_EQ((long)finish(threads[i]), i);
}
