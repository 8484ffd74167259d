// Thread-specific data and pthread_once.
#define _GNU_SOURCE
#include <limits.h>

#include "help.h"

static pthread_key_t key;
static int destroyed;
static void* last_value;

static void note_value(void* value) {
  ++destroyed;
  last_value = value;
}

static void* set_and_end(void* value) {
  EXPECT(pthread_getspecific(key) == NULL);
  EXPECT_EQ(pthread_setspecific(key, value), 0);
  EXPECT(pthread_getspecific(key) == value);
  return NULL;
}

static void* set_and_exit(void* value) {
  EXPECT_EQ(pthread_setspecific(key, value), 0);
  pthread_exit(NULL);
}

CASE(pthread_key_create, values_of_threads) {
  int here, there;
  EXPECT_EQ(pthread_key_create(&key, NULL), 0);
  EXPECT(pthread_getspecific(key) == NULL);
  EXPECT_EQ(pthread_setspecific(key, &here), 0);
  finish(start(set_and_end, &there));
  EXPECT(pthread_getspecific(key) == &here);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

CASE(pthread_key_create, destructor_runs) {
  int value;
  destroyed = 0;
  EXPECT_EQ(pthread_key_create(&key, note_value), 0);
  finish(start(set_and_end, &value));
  EXPECT_EQ(destroyed, 1);
  EXPECT(last_value == &value);
  finish(start(set_and_exit, &destroyed));
  EXPECT_EQ(destroyed, 2);
  EXPECT(last_value == &destroyed);
  finish(start(set_and_end, NULL));  // not for NULL
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

static void* value_in_destructor;

static void look_at_value(void* value) { value_in_destructor = pthread_getspecific(key); }

CASE(pthread_key_create, value_is_null_in_destructor) {
  int value;
  value_in_destructor = &value;
  EXPECT_EQ(pthread_key_create(&key, look_at_value), 0);
  finish(start(set_and_end, &value));
  EXPECT(value_in_destructor == NULL);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

static int rounds;
static int rounds_wanted;

static void set_again(void* value) {
  if (++rounds < rounds_wanted) EXPECT_EQ(pthread_setspecific(key, value), 0);
}

CASE(pthread_key_create, destructor_rounds) {
  int value;
  EXPECT_EQ(pthread_key_create(&key, set_again), 0);
  rounds = 0;
  rounds_wanted = 3;
  finish(start(set_and_end, &value));
  EXPECT_EQ(rounds, 3);
  rounds = 0;
  rounds_wanted = 100;
  finish(start(set_and_end, &value));
  EXPECT_EQ(rounds, PTHREAD_DESTRUCTOR_ITERATIONS);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

static pthread_key_t keys[3];
static int destroyed_of[3];

static void note_first(void* value) { ++destroyed_of[0]; }
static void note_third(void* value) { ++destroyed_of[2]; }

// A destructor sets another key: that one's destructor follows, in this round or the next.
static void set_first(void* value) {
  ++destroyed_of[1];
  EXPECT_EQ(pthread_setspecific(keys[0], value), 0);
}

static void* set_last_two(void* value) {
  EXPECT_EQ(pthread_setspecific(keys[1], value), 0);
  EXPECT_EQ(pthread_setspecific(keys[2], value), 0);
  return NULL;
}

CASE(pthread_key_create, destructors_of_several_keys) {
  int value;
  EXPECT_EQ(pthread_key_create(&keys[0], note_first), 0);
  EXPECT_EQ(pthread_key_create(&keys[1], set_first), 0);
  EXPECT_EQ(pthread_key_create(&keys[2], note_third), 0);
  finish(start(set_last_two, &value));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(destroyed_of[i], 1);
    EXPECT_EQ(pthread_key_delete(keys[i]), 0);
  }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_in_destructor(void* value) {
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  ++*(int*)value;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

CASE(pthread_key_create, destructor_synchronises) {
  int value = 0;
  pthread_t threads[4];
  EXPECT_EQ(pthread_key_create(&key, lock_in_destructor), 0);
  for (int i = 0; i < 4; ++i) threads[i] = start(set_and_end, &value);
  for (int i = 0; i < 4; ++i) finish(threads[i]);
  EXPECT_EQ(value, 4);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

CASE(pthread_key_create, eagain) {
  static pthread_key_t many[PTHREAD_KEYS_MAX];
  int made = 0;
  while (made < PTHREAD_KEYS_MAX && pthread_key_create(&many[made], NULL) == 0) ++made;
  EXPECT(made > 500);
  EXPECT_EQ(pthread_key_create(&key, NULL), EAGAIN);
  int value;
  EXPECT_EQ(pthread_setspecific(many[made - 1], &value), 0);
  EXPECT(pthread_getspecific(many[made - 1]) == &value);
  for (int i = 0; i < made; ++i) EXPECT_EQ(pthread_key_delete(many[i]), 0);
}

CASE(pthread_key_delete, no_destructor_after) {
  int value;
  destroyed = 0;
  EXPECT_EQ(pthread_key_create(&key, note_value), 0);
  EXPECT_EQ(pthread_setspecific(key, &value), 0);
  EXPECT_EQ(pthread_key_delete(key), 0);
  EXPECT_EQ(destroyed, 0);
}

CASE(pthread_key_delete, einval) {
  EXPECT_EQ(pthread_key_create(&key, NULL), 0);
  EXPECT_EQ(pthread_key_delete(key), 0);
  EXPECT_EQ(pthread_key_delete(key), EINVAL);
  EXPECT_EQ(pthread_key_delete(PTHREAD_KEYS_MAX), EINVAL);
}

CASE(pthread_setspecific, einval) {
  EXPECT_EQ(pthread_key_create(&key, NULL), 0);
  EXPECT_EQ(pthread_key_delete(key), 0);
  EXPECT_EQ(pthread_setspecific(key, &key), EINVAL);
  EXPECT_EQ(pthread_setspecific(PTHREAD_KEYS_MAX, &key), EINVAL);
  EXPECT(pthread_getspecific(PTHREAD_KEYS_MAX) == NULL);
}

// A key that is created again has no values of the old one.
CASE(pthread_getspecific, null_after_key_is_made_anew) {
  int value;
  EXPECT_EQ(pthread_key_create(&key, NULL), 0);
  EXPECT_EQ(pthread_setspecific(key, &value), 0);
  EXPECT_EQ(pthread_key_delete(key), 0);
  EXPECT_EQ(pthread_key_create(&key, NULL), 0);
  EXPECT(pthread_getspecific(key) == NULL);
  EXPECT_EQ(pthread_key_delete(key), 0);
}

static int initialised;

static void initialise(void) { ++initialised; }

static void initialise_slowly(void) {
  nap(kShortMs);
  ++initialised;
}

CASE(pthread_once, runs_once) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  initialised = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pthread_once(&once, initialise), 0);
  EXPECT_EQ(initialised, 1);
}

static pthread_once_t contended = PTHREAD_ONCE_INIT;

static void* once_slowly(void* unused) {
  EXPECT_EQ(pthread_once(&contended, initialise_slowly), 0);
  EXPECT_EQ(initialised, 1);
  return NULL;
}

CASE(pthread_once, others_wait) {
  initialised = 0;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(once_slowly, NULL);
  for (int i = 0; i < 4; ++i) finish(threads[i]);
  EXPECT_EQ(initialised, 1);
}

static pthread_once_t inner = PTHREAD_ONCE_INIT;

static void initialise_outer(void) {
  EXPECT_EQ(pthread_once(&inner, initialise), 0);
  EXPECT_EQ(initialised, 1);
  ++initialised;
}

CASE(pthread_once, nested) {
  static pthread_once_t outer = PTHREAD_ONCE_INIT;
  initialised = 0;
  EXPECT_EQ(pthread_once(&outer, initialise_outer), 0);
  EXPECT_EQ(initialised, 2);
}

static int attempts;

static void exit_at_first(void) {
  if (++attempts == 1) pthread_exit(NULL);
}

static pthread_once_t left = PTHREAD_ONCE_INIT;

static void* once_with_exit(void* unused) {
  EXPECT_EQ(pthread_once(&left, exit_at_first), 0);
  return NULL;
}

// A thread that ends within the routine has not run it: the next caller does.
CASE(pthread_once, again_after_pthread_exit) {
  attempts = 0;
  finish(start(once_with_exit, NULL));
  EXPECT_EQ(attempts, 1);
  finish(start(once_with_exit, NULL));
  EXPECT_EQ(attempts, 2);
  finish(start(once_with_exit, NULL));
  EXPECT_EQ(attempts, 2);
}

static pthread_once_t unknown = PTHREAD_ONCE_INIT;

// The unwinder cannot get past it.
__attribute__((nouwtable, noinline)) static void exit_without_unwind_table(void) {
  if (++attempts == 1) pthread_exit(NULL);
}

static void* once_without_table(void* unused) {
  EXPECT_EQ(pthread_once(&unknown, exit_without_unwind_table), 0);
  return NULL;
}

CASE(pthread_once, again_after_exit_without_unwind_table) {
  attempts = 0;
  finish(start(once_without_table, NULL));
  EXPECT_EQ(attempts, 1);
  finish(start(once_without_table, NULL));
  EXPECT_EQ(attempts, 2);
}
