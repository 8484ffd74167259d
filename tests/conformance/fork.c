// fork of a program with threads: pthread_atfork, what the child has, what it can do.
#define _GNU_SOURCE
#include <semaphore.h>
#include <signal.h>

#include "help.h"

static char order[16];
static int noted;

static void add(char letter) {
  if (noted < 15) order[noted++] = letter;
}

static void prepare_1(void) { add('p'); }
static void parent_1(void) { add('a'); }
static void child_1(void) { add('c'); }
static void prepare_2(void) { add('P'); }
static void parent_2(void) { add('A'); }
static void child_2(void) { add('C'); }

static int compare_order(void* expected) { return strcmp(order, (const char*)expected) != 0; }

// prepare: last in, first out; parent and child: first in, first out. Handlers cannot be removed:
// the later cases have them too.
CASE(pthread_atfork, order) {
  EXPECT_EQ(pthread_atfork(prepare_1, parent_1, child_1), 0);
  EXPECT_EQ(pthread_atfork(NULL, NULL, NULL), 0);
  EXPECT_EQ(pthread_atfork(prepare_2, parent_2, child_2), 0);
  noted = 0;
  memset(order, 0, sizeof order);
  EXPECT_EQ(in_child(compare_order, "PpcC"), 0);
  EXPECT(strcmp(order, "PpaA") == 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int used_by_atfork;

static void lock_mutex(void) {
  if (used_by_atfork) pthread_mutex_lock(&mutex);
}

static void unlock_mutex(void) {
  if (used_by_atfork) pthread_mutex_unlock(&mutex);
}

static int stop;

static void* lock_and_unlock(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    sched_yield();
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    sched_yield();
  }
  return NULL;
}

static int lock_in_child(void* unused) {
  return pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0 ? 0 : 1;
}

// What the handlers are for: the child can take a lock that other threads use all the time.
CASE(pthread_atfork, keeps_a_mutex_usable) {
  EXPECT_EQ(pthread_atfork(lock_mutex, unlock_mutex, unlock_mutex), 0);
  used_by_atfork = 1;
  stop = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) threads[i] = start(lock_and_unlock, NULL);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(in_child(lock_in_child, NULL), 0);
  __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < 2; ++i) finish(threads[i]);
  used_by_atfork = 0;
}

static int exit_with_7(void* unused) { return 7; }

static int die(void* unused) {
  signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
  return 0;
}

CASE(fork, status) {
  EXPECT_EQ(in_child(exit_with_7, NULL), 7);
  EXPECT_EQ(in_child(die, NULL), 1000 + SIGTERM);
}

static int compare_pid(void* parent) {
  return getpid() != *(pid_t*)parent && getppid() == *(pid_t*)parent ? 0 : 1;
}

CASE(fork, has_a_pid_of_its_own) {
  pid_t self = getpid();
  EXPECT_EQ(in_child(compare_pid, &self), 0);
}

static int number;

static int change_number(void* unused) {
  number = 2;
  return number;
}

CASE(fork, memory_is_copied) {
  number = 1;
  EXPECT_EQ(in_child(change_number, NULL), 2);
  EXPECT_EQ(number, 1);
}

static void* give_back(void* argument) { return argument; }

static int use_threads(void* unused) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    if (pthread_create(&threads[i], NULL, give_back, &threads[i]) != 0) return 1;
  for (int i = 0; i < 3; ++i) {
    void* result;
    if (pthread_join(threads[i], &result) != 0 || result != &threads[i]) return 2;
  }
  return 0;
}

CASE(fork, child_makes_threads) { EXPECT_EQ(in_child(use_threads, NULL), 0); }

static int fork_from_thread(void* unused) { return in_child(use_threads, NULL); }

CASE(fork, from_a_thread) { EXPECT_EQ(in_thread(fork_from_thread, NULL), 0); }

static pthread_t forking_thread;

static int compare_self(void* unused) { return !pthread_equal(forking_thread, pthread_self()); }

static int fork_and_compare(void* unused) {
  forking_thread = pthread_self();
  return in_child(compare_self, NULL);
}

CASE(fork, child_is_the_thread_that_forked) {
  EXPECT_EQ(in_thread(fork_and_compare, NULL), 0);
  EXPECT_EQ(fork_and_compare(NULL), 0);
}

static sem_t release;
static int beats;

static void* beat(void* unused) {
  while (sem_trywait(&release) != 0) {
    __atomic_add_fetch(&beats, 1, __ATOMIC_SEQ_CST);
    nap(1);
  }
  return NULL;
}

static int count_beats(void* unused) {
  int before = __atomic_load_n(&beats, __ATOMIC_SEQ_CST);
  nap(10);
  return __atomic_load_n(&beats, __ATOMIC_SEQ_CST) == before ? 0 : 1;
}

CASE(fork, other_threads_are_not_copied) {
  EXPECT_EQ(sem_init(&release, 0, 0), 0);
  pthread_t thread = start(beat, NULL);
  EXPECT_EQ(in_child(count_beats, NULL), 0);
  EXPECT_EQ(sem_post(&release), 0);
  finish(thread);
}

static pthread_key_t key;

static int compare_specific(void* value) { return pthread_getspecific(key) != value; }

CASE(fork, specific_data_stays) {
  EXPECT_EQ(pthread_key_create(&key, NULL), 0);
  EXPECT_EQ(pthread_setspecific(key, &key), 0);
  EXPECT_EQ(in_child(compare_specific, &key), 0);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

static int look_at_signals(void* unused) {
  sigset_t blocked, pending;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  sigpending(&pending);
  return sigismember(&blocked, SIGUSR1) * 2 + sigismember(&pending, SIGUSR1);
}

// The mask is inherited, pending signals are not.
CASE(fork, signal_mask) {
  sigset_t set;
  int received;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(in_child(look_at_signals, NULL), 2);
  EXPECT_EQ(sigwait(&set, &received), 0);
  EXPECT_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
}

static int exit_from_thread(void* unused) { exit(0); }

static void end_with_9(void) { _exit(9); }

static int exit_in_thread(void* unused) {
  atexit(end_with_9);
  in_thread(exit_from_thread, NULL);
  return 1;
}

// exit in any thread ends the process, after the functions of atexit.
CASE(exit, in_a_thread) { EXPECT_EQ(in_child(exit_in_thread, NULL), 9); }

CASE(pipe, parent_and_child) {
  int ends[2];
  char text[6] = "";
  EXPECT_EQ(pipe(ends), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(write(ends[1], "hello", 5) == 5 ? 0 : 1);
  close(ends[1]);
  EXPECT_EQ(read(ends[0], text, 5), 5);
  EXPECT(strcmp(text, "hello") == 0);
  EXPECT_EQ(read(ends[0], text, 5), 0);
  close(ends[0]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

CASE(waitpid, errors) {
  EXPECT_ERRNO(waitpid(getpid(), NULL, 0), ECHILD);
  EXPECT_ERRNO(wait(NULL), ECHILD);
}

CASE(waitpid, nohang) {
  int ends[2];
  char byte;
  EXPECT_EQ(pipe(ends), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  EXPECT_EQ(waitpid(child, NULL, WNOHANG), 0);
  close(ends[1]);
  int status = -1;
  pid_t ended;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) nap(1);
  EXPECT_EQ(ended, child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
}
