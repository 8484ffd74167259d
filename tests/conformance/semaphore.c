// sem_*: unnamed, named and process-shared semaphores.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <sys/stat.h>

#include "help.h"

static sem_t semaphore;

static int value_of(sem_t* which) {
  int value = -1;
  EXPECT_EQ(sem_getvalue(which, &value), 0);
  return value;
}

static int wait_for(sem_t* which) {
  int result;
  do {
    result = sem_wait(which);
  } while (result != 0 && errno == EINTR);
  return result;
}

CASE(sem_init, value) {
  EXPECT_EQ(sem_init(&semaphore, 0, 3), 0);
  EXPECT_EQ(value_of(&semaphore), 3);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
  EXPECT_EQ(sem_init(&semaphore, 0, SEM_VALUE_MAX), 0);
  EXPECT_EQ(value_of(&semaphore), SEM_VALUE_MAX);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

CASE(sem_init, einval) { EXPECT_ERRNO(sem_init(&semaphore, 0, SEM_VALUE_MAX + 1u), EINVAL); }

CASE(sem_wait, counts) {
  EXPECT_EQ(sem_init(&semaphore, 0, 2), 0);
  EXPECT_EQ(wait_for(&semaphore), 0);
  EXPECT_EQ(value_of(&semaphore), 1);
  EXPECT_EQ(wait_for(&semaphore), 0);
  EXPECT_EQ(value_of(&semaphore), 0);
  EXPECT_EQ(sem_post(&semaphore), 0);
  EXPECT_EQ(value_of(&semaphore), 1);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

static void* post(void* which) {
  EXPECT_EQ(sem_post((sem_t*)which), 0);
  return NULL;
}

CASE(sem_wait, waits_for_a_post) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  pthread_t thread = start(post, &semaphore);
  EXPECT_EQ(wait_for(&semaphore), 0);
  EXPECT_EQ(value_of(&semaphore), 0);
  finish(thread);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

static int passed;

static void* wait_and_pass(void* which) {
  EXPECT_EQ(wait_for((sem_t*)which), 0);
  __atomic_add_fetch(&passed, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

CASE(sem_post, wakes_each_waiter) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  passed = 0;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(wait_and_pass, &semaphore);
  nap(kShortMs);
  EXPECT_EQ(__atomic_load_n(&passed, __ATOMIC_SEQ_CST), 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sem_post(&semaphore), 0);
  for (int i = 0; i < 4; ++i) finish(threads[i]);
  EXPECT_EQ(passed, 4);
  EXPECT_EQ(value_of(&semaphore), 0);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

CASE(sem_post, eoverflow) {
  EXPECT_EQ(sem_init(&semaphore, 0, SEM_VALUE_MAX), 0);
  EXPECT_ERRNO(sem_post(&semaphore), EOVERFLOW);
  EXPECT_EQ(value_of(&semaphore), SEM_VALUE_MAX);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

CASE(sem_trywait, eagain) {
  EXPECT_EQ(sem_init(&semaphore, 0, 1), 0);
  EXPECT_EQ(sem_trywait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  EXPECT_EQ(value_of(&semaphore), 0);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

CASE(sem_timedwait, results) {
  EXPECT_EQ(sem_init(&semaphore, 0, 1), 0);
  struct timespec time = bad_time();
  EXPECT_ERRNO(sem_timedwait(&semaphore, &time), EINVAL);  // glibc: even if it need not block
  time = in_ms(CLOCK_REALTIME, -1000);
  EXPECT_EQ(sem_timedwait(&semaphore, &time), 0);
  EXPECT_ERRNO(sem_timedwait(&semaphore, &time), ETIMEDOUT);
  time = in_ms(CLOCK_REALTIME, kShortMs);
  EXPECT_ERRNO(sem_timedwait(&semaphore, &time), ETIMEDOUT);
  EXPECT(has_passed(CLOCK_REALTIME, time));
  EXPECT_EQ(value_of(&semaphore), 0);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

CASE(sem_timedwait, is_woken_in_time) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  struct timespec time = in_ms(CLOCK_REALTIME, kLongMs);
  pthread_t thread = start(post, &semaphore);
  EXPECT_EQ(sem_timedwait(&semaphore, &time), 0);
  finish(thread);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

CASE(sem_clockwait, results) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  struct timespec time = in_ms(CLOCK_MONOTONIC, kShortMs);
  EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
  EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time), ETIMEDOUT);
  EXPECT(has_passed(CLOCK_MONOTONIC, time));
  time = in_ms(CLOCK_REALTIME, kShortMs);
  EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_REALTIME, &time), ETIMEDOUT);
  time = bad_time();
  EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time), EINVAL);
  time = in_ms(CLOCK_MONOTONIC, kLongMs);
  pthread_t thread = start(post, &semaphore);
  EXPECT_EQ(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time), 0);
  finish(thread);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

static int inside;
static int most_inside;

static void* enter(void* unused) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(wait_for(&semaphore), 0);
    int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    if (now > 2) __atomic_store_n(&most_inside, now, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    EXPECT_EQ(sem_post(&semaphore), 0);
  }
  return NULL;
}

CASE(sem_wait, bounds_how_many) {
  EXPECT_EQ(sem_init(&semaphore, 0, 2), 0);
  most_inside = 0;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(enter, NULL);
  for (int i = 0; i < 4; ++i) finish(threads[i]);
  EXPECT_EQ(most_inside, 0);
  EXPECT_EQ(value_of(&semaphore), 2);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

static char name[64];

static void choose_name(void) {
  snprintf(name, sizeof name, "/clew-conformance-%d", (int)getpid());
  sem_unlink(name);
}

CASE(sem_open, creates) {
  choose_name();
  sem_t* first = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
  EXPECT(first != SEM_FAILED);
  if (first == SEM_FAILED) return;
  EXPECT_EQ(value_of(first), 2);
  sem_t* second = sem_open(name, 0);
  EXPECT(second == first);  // POSIX: the same address within a process
  EXPECT_EQ(wait_for(second), 0);
  EXPECT_EQ(value_of(first), 1);
  EXPECT_EQ(sem_trywait(first), 0);
  pthread_t thread = start(post, second);
  EXPECT_EQ(wait_for(first), 0);
  finish(thread);
  EXPECT_EQ(sem_close(second), 0);
  EXPECT_EQ(value_of(first), 0);
  EXPECT_EQ(sem_close(first), 0);
  EXPECT_EQ(sem_unlink(name), 0);
}

CASE(sem_open, existing_value_stays) {
  choose_name();
  sem_t* first = sem_open(name, O_CREAT, 0600, 5);
  EXPECT(first != SEM_FAILED);
  if (first == SEM_FAILED) return;
  EXPECT_EQ(sem_close(first), 0);
  sem_t* second = sem_open(name, O_CREAT, 0600, 9);
  EXPECT(second != SEM_FAILED);
  if (second != SEM_FAILED) EXPECT_EQ(value_of(second), 5);
  EXPECT_EQ(sem_close(second), 0);
  EXPECT_EQ(sem_unlink(name), 0);
}

static long open_result(const char* which, int flags, unsigned value) {
  return sem_open(which, flags, 0600, value) == SEM_FAILED ? -1 : 0;
}

CASE(sem_open, errors) {
  choose_name();
  EXPECT_ERRNO(open_result(name, 0, 0), ENOENT);
  EXPECT_ERRNO(open_result(name, O_CREAT, SEM_VALUE_MAX + 1u), EINVAL);
  EXPECT_ERRNO(open_result("/", O_CREAT, 0), EINVAL);
  EXPECT_ERRNO(open_result("/a/b", O_CREAT, 0), EINVAL);
  char long_name[NAME_MAX + 10];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[0] = '/';
  long_name[sizeof long_name - 1] = 0;
  EXPECT_ERRNO(open_result(long_name, O_CREAT, 0), EINVAL);  // POSIX: ENAMETOOLONG
  sem_t* made = sem_open(name, O_CREAT, 0600, 0);
  EXPECT(made != SEM_FAILED);
  EXPECT_ERRNO(open_result(name, O_CREAT | O_EXCL, 0), EEXIST);
  EXPECT_EQ(sem_close(made), 0);
  EXPECT_EQ(sem_unlink(name), 0);
}

CASE(sem_unlink, lives_on_until_closed) {
  choose_name();
  sem_t* made = sem_open(name, O_CREAT, 0600, 1);
  EXPECT(made != SEM_FAILED);
  if (made == SEM_FAILED) return;
  EXPECT_EQ(sem_unlink(name), 0);
  EXPECT_ERRNO(sem_unlink(name), ENOENT);
  EXPECT_ERRNO(open_result(name, 0, 0), ENOENT);
  EXPECT_EQ(wait_for(made), 0);
  EXPECT_EQ(sem_close(made), 0);
}

CASE(sem_close, einval) {
  EXPECT_EQ(sem_init(&semaphore, 0, 0), 0);
  EXPECT_ERRNO(sem_close(&semaphore), EINVAL);
  EXPECT_EQ(sem_destroy(&semaphore), 0);
}

static int answer(void* pair) {
  sem_t* semaphores = (sem_t*)pair;
  if (wait_for(&semaphores[0]) != 0) return 1;
  return sem_post(&semaphores[1]);
}

CASE(sem_init, process_shared) {
  sem_t* semaphores = (sem_t*)shared_memory(2 * sizeof *semaphores);
  EXPECT_EQ(sem_init(&semaphores[0], 1, 0), 0);
  EXPECT_EQ(sem_init(&semaphores[1], 1, 0), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(answer(semaphores));
  EXPECT_EQ(sem_post(&semaphores[0]), 0);
  EXPECT_EQ(wait_for(&semaphores[1]), 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(semaphores, 2 * sizeof *semaphores);
}

static int post_by_name(void* unused) {
  sem_t* opened = sem_open(name, 0);
  if (opened == SEM_FAILED) return 1;
  return sem_post(opened) == 0 && sem_close(opened) == 0 ? 0 : 2;
}

CASE(sem_open, between_processes) {
  choose_name();
  sem_t* made = sem_open(name, O_CREAT, 0600, 0);
  EXPECT(made != SEM_FAILED);
  if (made == SEM_FAILED) return;
  EXPECT_EQ(in_child(post_by_name, NULL), 0);
  EXPECT_EQ(value_of(made), 1);
  EXPECT_EQ(wait_for(made), 0);
  EXPECT_EQ(sem_close(made), 0);
  EXPECT_EQ(sem_unlink(name), 0);
}
