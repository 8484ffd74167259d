// What a process, or each of its threads, has one of: user and group ids, names, processors,
// limits.
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "help.h"

static sem_t go_on;

static void* wait_for_it(void* unused) {
  EXPECT_EQ(sem_wait(&go_on), 0);
  return NULL;
}

static void* nothing(void* unused) { return unused; }

// libc lets all threads of a process change their ids together: one that waits, one that has
// ended, one that may not have begun.
CASE(setuid, with_threads) {
  EXPECT_EQ(sem_init(&go_on, 0, 0), 0);
  pthread_t waiting = start(wait_for_it, NULL);
  pthread_t ended = start(nothing, NULL);
  nap(kShortMs);
  pthread_t fresh = start(nothing, NULL);
  EXPECT_EQ(setuid(getuid()), 0);
  EXPECT_EQ(setgid(getgid()), 0);
  EXPECT_EQ(seteuid(geteuid()), 0);
  EXPECT_EQ(setegid(getegid()), 0);
  EXPECT_EQ(setreuid(getuid(), geteuid()), 0);
  EXPECT_EQ(setregid(getgid(), getegid()), 0);
  EXPECT_EQ(setresuid(-1, -1, -1), 0);
  EXPECT_EQ(setresgid(-1, -1, -1), 0);
  EXPECT_ERRNO(seteuid(-1), EINVAL);
  EXPECT_ERRNO(setegid(-1), EINVAL);
  EXPECT_EQ(sem_post(&go_on), 0);
  finish(waiting);
  finish(ended);
  finish(fresh);
}

CASE(setgroups, with_threads) {
  gid_t groups[1000];
  EXPECT_EQ(sem_init(&go_on, 0, 0), 0);
  pthread_t waiting = start(wait_for_it, NULL);
  pthread_t fresh = start(nothing, NULL);
  int count = getgroups(1000, groups);
  EXPECT(count >= 0);
  int result = setgroups((size_t)count, groups);
  EXPECT(result == 0 || errno == EPERM);
  EXPECT_EQ(sem_post(&go_on), 0);
  finish(waiting);
  finish(fresh);
}

static void take_groups_of_root(void) {
  EXPECT_EQ(sem_init(&go_on, 0, 0), 0);
  pthread_t waiting = start(wait_for_it, NULL);
  pthread_t fresh = start(nothing, NULL);
  EXPECT_EQ(initgroups("root", 0), 0);
  EXPECT_EQ(sem_post(&go_on), 0);
  finish(waiting);
  finish(fresh);
}

// This is not interposed: libc reaches each thread by a signal.
CASE(initgroups, with_threads) {
  gid_t before[1000];
  int count = getgroups(1000, before);
  if (geteuid() != 0) return;
  take_groups_of_root();
  EXPECT_EQ(setgroups((size_t)count, before), 0);
}

static void* name_itself(void* unused) {
  char name[16] = "";
  EXPECT_EQ(prctl(PR_SET_NAME, "a name that is too long"), 0);
  EXPECT_EQ(prctl(PR_GET_NAME, name), 0);
  EXPECT_EQ(strcmp(name, "a name that is "), 0);
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  EXPECT_EQ(strcmp(name, "a name that is "), 0);
  EXPECT_EQ(pthread_setname_np(pthread_self(), "another"), 0);
  EXPECT_EQ(prctl(PR_GET_NAME, name), 0);
  EXPECT_EQ(strcmp(name, "another"), 0);
  return NULL;
}

static void read_name(char* out) {
  FILE* file = fopen("/proc/self/comm", "r");
  EXPECT(file != NULL && fgets(out, 20, file) != NULL);
  if (file != NULL) fclose(file);
  out[strcspn(out, "\n")] = '\0';
}

CASE(pthread_setname_np, and_the_kernel) {
  char name[20] = "";
  EXPECT_EQ(pthread_setname_np(pthread_self(), "first"), 0);
  read_name(name);
  EXPECT_EQ(strcmp(name, "first"), 0);
  finish(start(name_itself, NULL));
  read_name(name);
  EXPECT_EQ(strcmp(name, "first"), 0);
  EXPECT_EQ(prctl(PR_SET_NAME, "second"), 0);
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  EXPECT_EQ(strcmp(name, "second"), 0);
}

static void* ask_without_libc(void* unused) {
  struct sched_param parameters = {-1};
  const pid_t self = gettid();
  unsigned long set[16] = {0};
  EXPECT_EQ(syscall(SYS_sched_getparam, self, &parameters), 0);
  EXPECT_EQ(parameters.sched_priority, 0);
  EXPECT_EQ(syscall(SYS_sched_getscheduler, self), SCHED_OTHER);
  EXPECT_EQ(syscall(SYS_sched_setscheduler, self, SCHED_BATCH, &parameters), 0);
  EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  EXPECT(syscall(SYS_sched_getaffinity, self, sizeof set, set) > 0);
  EXPECT_EQ(syscall(SYS_sched_setaffinity, self, sizeof set, set), 0);
  return NULL;
}

CASE(sched_getparam, system_calls_of_a_thread) { finish(start(ask_without_libc, NULL)); }

static void* stay_on_each(void* unused) {
  cpu_set_t all, one;
  EXPECT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    EXPECT_EQ(sched_getcpu(), i);
  }
  return NULL;
}

CASE(sched_getcpu, one_of_those_allowed) { finish(start(stay_on_each, NULL)); }

// A thread gets what it needs; what is too much is refused.
CASE(setrlimit, address_space) {
  struct rlimit before, seen, limit;
  EXPECT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  limit = (struct rlimit){1 << 30, before.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(getrlimit(RLIMIT_AS, &seen), 0);
  EXPECT_EQ(seen.rlim_cur, 1 << 30);
  EXPECT_EQ(seen.rlim_max, before.rlim_max);
  finish(start(nothing, NULL));
  EXPECT(mmap(NULL, 1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

static volatile int handled;
static void note_signal(int number) { handled = number; }
static pid_t number_of_thread;

static void* tell_number(void* unused) {
  number_of_thread = gettid();
  EXPECT_EQ(sem_post(&go_on), 0);
  nap(kShortMs);
  return NULL;
}

// The kernel accepts the id of any thread for that of its process.
CASE(kill, number_of_a_thread) {
  EXPECT_EQ(sem_init(&go_on, 0, 0), 0);
  signal(SIGUSR1, note_signal);
  handled = 0;
  pthread_t thread = start(tell_number, NULL);
  while (sem_wait(&go_on) != 0) {
  }
  EXPECT_EQ(kill(number_of_thread, 0), 0);
  EXPECT_EQ(kill(number_of_thread, SIGUSR1), 0);
  finish(thread);
  EXPECT_EQ(handled, SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
}

// It is handled before the call that causes it returns.
CASE(write, sigpipe_at_once) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(close(ends[0]), 0);
  signal(SIGPIPE, note_signal);
  handled = 0;
  EXPECT_ERRNO(write(ends[1], "x", 1), EPIPE);
  EXPECT_EQ(handled, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(close(ends[1]), 0);
}
