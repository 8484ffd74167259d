// C11 <threads.h>: thrd_*, mtx_*, cnd_*, tss_*, call_once.
#include <errno.h>
#include <threads.h>
#include <time.h>

#include "check.h"

static struct timespec in_ms(long ms) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

static void nap(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  while (thrd_sleep(&time, &time) == -1) {
  }
}

// What `function` returns when a new thread calls it.
static int in_thread(thrd_start_t function, void* argument) {
  thrd_t thread;
  int result = -1000;
  EXPECT_EQ(thrd_create(&thread, function, argument), thrd_success);
  EXPECT_EQ(thrd_join(thread, &result), thrd_success);
  return result;
}

static int give_back(void* value) { return *(int*)value; }

static int exit_with(void* value) { thrd_exit(*(int*)value); }

CASE(thrd_create, passes_argument_and_result) {
  int value = 42;
  EXPECT_EQ(in_thread(give_back, &value), 42);
  value = -7;
  EXPECT_EQ(in_thread(give_back, &value), -7);
}

CASE(thrd_exit, gives_result) {
  int value = 5;
  EXPECT_EQ(in_thread(exit_with, &value), 5);
}

CASE(thrd_join, without_result) {
  thrd_t thread;
  int value = 0;
  EXPECT_EQ(thrd_create(&thread, give_back, &value), thrd_success);
  EXPECT_EQ(thrd_join(thread, NULL), thrd_success);
}

static int same_as(void* other) { return thrd_equal(thrd_current(), *(thrd_t*)other) != 0; }

CASE(thrd_current, and_thrd_equal) {
  thrd_t self = thrd_current();
  EXPECT(thrd_equal(self, thrd_current()));
  EXPECT_EQ(in_thread(same_as, &self), 0);
}

static mtx_t mutex;
static cnd_t condition;
static int state;

static int set_state(void* unused) {
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  state = 1;
  EXPECT_EQ(cnd_signal(&condition), thrd_success);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  return 0;
}

static void init_all(int type) {
  EXPECT_EQ(mtx_init(&mutex, type), thrd_success);
  EXPECT_EQ(cnd_init(&condition), thrd_success);
  state = 0;
}

static void destroy_all(void) {
  mtx_destroy(&mutex);
  cnd_destroy(&condition);
}

CASE(thrd_detach, runs_on) {
  thrd_t thread;
  init_all(mtx_plain);
  EXPECT_EQ(thrd_create(&thread, set_state, NULL), thrd_success);
  EXPECT_EQ(thrd_detach(thread), thrd_success);
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  while (!state) EXPECT_EQ(cnd_wait(&condition, &mutex), thrd_success);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
}

CASE(thrd_sleep, takes_its_time) {
  struct timespec before, after;
  struct timespec time = {0, 3000000};
  timespec_get(&before, TIME_UTC);
  EXPECT_EQ(thrd_sleep(&time, NULL), 0);
  timespec_get(&after, TIME_UTC);
  EXPECT((after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec >= 3000000);
}

CASE(thrd_sleep, bad_time) {
  struct timespec time = {0, 1000000000};
  EXPECT(thrd_sleep(&time, NULL) < -1);
}

CASE(thrd_yield, returns) { thrd_yield(); }

static int try_once(void* unused) {
  int result = mtx_trylock(&mutex);
  if (result == thrd_success) mtx_unlock(&mutex);
  return result;
}

static void expect_lock(int type) {
  init_all(type);
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  EXPECT_EQ(in_thread(try_once, NULL), thrd_busy);
  if (type & mtx_recursive) {
    EXPECT_EQ(mtx_lock(&mutex), thrd_success);
    EXPECT_EQ(mtx_trylock(&mutex), thrd_success);
    EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
    EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
    EXPECT_EQ(in_thread(try_once, NULL), thrd_busy);
  } else {
    EXPECT_EQ(mtx_trylock(&mutex), thrd_busy);
  }
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  EXPECT_EQ(in_thread(try_once, NULL), thrd_success);
  destroy_all();
}

CASE(mtx_init, plain) { expect_lock(mtx_plain); }
CASE(mtx_init, recursive) { expect_lock(mtx_plain | mtx_recursive); }
CASE(mtx_init, timed) { expect_lock(mtx_timed); }
CASE(mtx_init, timed_recursive) { expect_lock(mtx_timed | mtx_recursive); }

CASE(mtx_unlock, error_not_owner) {
  init_all(mtx_plain | mtx_recursive);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_error);
  destroy_all();
}

static int counter;

static int count(void* unused) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(mtx_lock(&mutex), thrd_success);
    ++counter;
    EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  }
  return 0;
}

CASE(mtx_lock, excludes) {
  static const int types[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive};
  for (int type = 0; type < 3; ++type) {
    init_all(types[type]);
    counter = 0;
    thrd_t threads[4];
    for (int i = 0; i < 4; ++i) EXPECT_EQ(thrd_create(&threads[i], count, NULL), thrd_success);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(thrd_join(threads[i], NULL), thrd_success);
    EXPECT_EQ(counter, 400);
    destroy_all();
  }
}

static int lock_in_ms(void* ms) {
  struct timespec time = in_ms(*(int*)ms);
  int result = mtx_timedlock(&mutex, &time);
  if (result == thrd_success) mtx_unlock(&mutex);
  return result;
}

static int lock_bad_time(void* unused) {
  struct timespec time = {0, 1000000000};
  return mtx_timedlock(&mutex, &time);
}

CASE(mtx_timedlock, results) {
  init_all(mtx_timed);
  int soon = 5;
  EXPECT_EQ(in_thread(lock_in_ms, &soon), thrd_success);
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  EXPECT_EQ(in_thread(lock_in_ms, &soon), thrd_timedout);
  EXPECT_EQ(in_thread(lock_bad_time, NULL), thrd_error);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  destroy_all();
}

CASE(mtx_timedlock, waits_for_the_holder) {
  init_all(mtx_timed);
  thrd_t thread;
  int late = 20000;
  int result = -1;
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  EXPECT_EQ(thrd_create(&thread, lock_in_ms, &late), thrd_success);
  nap(5);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  EXPECT_EQ(thrd_join(thread, &result), thrd_success);
  EXPECT_EQ(result, thrd_success);
  destroy_all();
}

CASE(cnd_wait, signalled) {
  init_all(mtx_plain);
  thrd_t thread;
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  EXPECT_EQ(thrd_create(&thread, set_state, NULL), thrd_success);
  while (!state) EXPECT_EQ(cnd_wait(&condition, &mutex), thrd_success);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  EXPECT_EQ(thrd_join(thread, NULL), thrd_success);
  destroy_all();
}

CASE(cnd_timedwait, results) {
  init_all(mtx_timed);
  thrd_t thread;
  struct timespec time = in_ms(5);
  int result;
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  do {
    result = cnd_timedwait(&condition, &mutex, &time);
  } while (result == thrd_success);
  EXPECT_EQ(result, thrd_timedout);
  time.tv_nsec = 1000000000;
  EXPECT_EQ(cnd_timedwait(&condition, &mutex, &time), thrd_error);
  time = in_ms(20000);
  EXPECT_EQ(thrd_create(&thread, set_state, NULL), thrd_success);
  while (!state) EXPECT_EQ(cnd_timedwait(&condition, &mutex, &time), thrd_success);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  EXPECT_EQ(thrd_join(thread, NULL), thrd_success);
  destroy_all();
}

static int wait_for_state(void* unused) {
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  while (!state) EXPECT_EQ(cnd_wait(&condition, &mutex), thrd_success);
  ++counter;
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  return 0;
}

CASE(cnd_broadcast, wakes_all) {
  init_all(mtx_plain);
  counter = 0;
  thrd_t threads[3];
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(thrd_create(&threads[i], wait_for_state, NULL), thrd_success);
  nap(5);
  EXPECT_EQ(mtx_lock(&mutex), thrd_success);
  state = 1;
  EXPECT_EQ(cnd_broadcast(&condition), thrd_success);
  EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(thrd_join(threads[i], NULL), thrd_success);
  EXPECT_EQ(counter, 3);
  destroy_all();
}

static tss_t key;
static int destroyed;

static void note_value(void* value) { ++*(int*)value; }

static int set_value(void* value) {
  if (tss_get(key) != NULL) return 1;
  if (tss_set(key, value) != thrd_success) return 2;
  return tss_get(key) == value ? 0 : 3;
}

CASE(tss_create, values_and_destructor) {
  destroyed = 0;
  EXPECT_EQ(tss_create(&key, note_value), thrd_success);
  EXPECT(tss_get(key) == NULL);
  EXPECT_EQ(in_thread(set_value, &destroyed), 0);
  EXPECT_EQ(destroyed, 1);
  EXPECT(tss_get(key) == NULL);
  tss_delete(key);
  EXPECT_EQ(tss_set(key, &destroyed), thrd_error);
}

static int rounds;

static void set_again(void* value) {
  ++rounds;
  EXPECT_EQ(tss_set(key, value), thrd_success);
}

CASE(tss_create, destructor_rounds) {
  rounds = 0;
  EXPECT_EQ(tss_create(&key, set_again), thrd_success);
  EXPECT_EQ(in_thread(set_value, &rounds), 0);
  EXPECT_EQ(rounds, TSS_DTOR_ITERATIONS);
  tss_delete(key);
}

CASE(tss_create, error) {
  static tss_t keys[2000];
  int made = 0;
  while (made < 2000 && tss_create(&keys[made], NULL) == thrd_success) ++made;
  EXPECT(made < 2000);
  for (int i = 0; i < made; ++i) tss_delete(keys[i]);
}

static once_flag flag = ONCE_FLAG_INIT;

static void initialise(void) {
  nap(3);
  ++counter;
}

static int once(void* unused) {
  call_once(&flag, initialise);
  EXPECT_EQ(counter, 1);
  return 0;
}

CASE(call_once, runs_once) {
  counter = 0;
  thrd_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT_EQ(thrd_create(&threads[i], once, NULL), thrd_success);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(thrd_join(threads[i], NULL), thrd_success);
  EXPECT_EQ(counter, 1);
}
