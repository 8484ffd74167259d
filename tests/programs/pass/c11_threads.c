// <threads.h>: threads, mutexes of all kinds, conditions, once, thread-specific storage.
// (ThreadSanitizer does not know these functions.)
// EXPECT: pass
#include <threads.h>
#include <time.h>

#include "../check.h"

enum { kThreads = 4 };

static int times = 10;
static mtx_t mutex;
static cnd_t condition;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int count;
static int initialised;
static int destroyed;
static int turn;

static struct timespec in_ms(long ms) {
  struct timespec time;
  CHECK(timespec_get(&time, TIME_UTC) == TIME_UTC);
  time.tv_nsec += ms * 1000000;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

static void initialise(void) { initialised++; }

static void destroy(void* value) {
  CHECK(mtx_lock(&mutex) == thrd_success);
  destroyed += *(int*)value;
  CHECK(mtx_unlock(&mutex) == thrd_success);
}

static int count_up(void* argument) {
  int own = 1;
  call_once(&once, initialise);
  CHECK(initialised == 1);
  CHECK(tss_get(key) == NULL);
  CHECK(tss_set(key, &own) == thrd_success);
  for (int i = 0; i < times; i++) {
    CHECK(mtx_lock(&mutex) == thrd_success);
    count++;
    CHECK(mtx_unlock(&mutex) == thrd_success);
    if (i % 3 == 0) thrd_yield();
  }
  CHECK(tss_get(key) == &own);
  static int one = 1;  // outlives the stack, for the destructor
  CHECK(tss_set(key, &one) == thrd_success);
  int result = -(int)(size_t)argument;
  if (result % 2 != 0) thrd_exit(result);
  return result;
}

static void check_threads(void) {
  count = destroyed = 0;
  thrd_t threads[kThreads];
  for (int i = 0; i < kThreads; i++)
    CHECK(thrd_create(&threads[i], count_up, (void*)(size_t)i) == thrd_success);
  for (int i = 0; i < kThreads; i++) {
    int result = 1;
    CHECK(thrd_join(threads[i], &result) == thrd_success);
    CHECK(result == -i);
  }
  CHECK(count == kThreads * times);
  CHECK(destroyed == kThreads);
  CHECK(thrd_equal(thrd_current(), thrd_current()));
}

static int take_turns(void* which) {
  int own = (int)(size_t)which;
  for (int i = 0; i < times; i++) {
    CHECK(mtx_lock(&mutex) == thrd_success);
    while (turn != own) CHECK(cnd_wait(&condition, &mutex) == thrd_success);
    turn = !own;
    CHECK((i % 2 ? cnd_signal(&condition) : cnd_broadcast(&condition)) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
  }
  return 0;
}

static void check_conditions(void) {
  turn = 0;
  thrd_t threads[2];
  for (int i = 0; i < 2; i++)
    CHECK(thrd_create(&threads[i], take_turns, (void*)(size_t)i) == thrd_success);
  for (int i = 0; i < 2; i++) CHECK(thrd_join(threads[i], NULL) == thrd_success);

  CHECK(mtx_lock(&mutex) == thrd_success);
  struct timespec soon = in_ms(2);
  int result;
  while ((result = cnd_timedwait(&condition, &mutex, &soon)) == thrd_success) {
  }
  CHECK(result == thrd_timedout);
  CHECK(mtx_unlock(&mutex) == thrd_success);
}

static int try_and_time_out(void* timed) {
  CHECK(mtx_trylock(timed) == thrd_busy);
  struct timespec soon = in_ms(2);
  CHECK(mtx_timedlock(timed, &soon) == thrd_timedout);
  return 0;
}

static void check_kinds(void) {
  mtx_t timed;
  CHECK(mtx_init(&timed, mtx_timed | mtx_recursive) == thrd_success);
  struct timespec soon = in_ms(2);
  CHECK(mtx_lock(&timed) == thrd_success);
  CHECK(mtx_trylock(&timed) == thrd_success);
  CHECK(mtx_timedlock(&timed, &soon) == thrd_success);
  thrd_t thread;
  CHECK(thrd_create(&thread, try_and_time_out, &timed) == thrd_success);
  CHECK(thrd_join(thread, NULL) == thrd_success);
  for (int i = 0; i < 3; i++) CHECK(mtx_unlock(&timed) == thrd_success);
  CHECK(mtx_unlock(&timed) == thrd_error);
  mtx_destroy(&timed);
}

static int end_at_once(void* unused) {
  (void)unused;
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) times = atoi(argv[1]);
  CHECK(mtx_init(&mutex, mtx_plain) == thrd_success);
  CHECK(cnd_init(&condition) == thrd_success);
  CHECK(tss_create(&key, destroy) == thrd_success);
  check_threads();
  check_conditions();
  check_kinds();
  thrd_t detached;
  CHECK(thrd_create(&detached, end_at_once, NULL) == thrd_success);
  CHECK(thrd_detach(detached) == thrd_success);
  struct timespec short_time = {0, 1000000};
  CHECK(thrd_sleep(&short_time, NULL) == 0);
  tss_delete(key);
  cnd_destroy(&condition);
  mtx_destroy(&mutex);
  puts("ok");
  return 0;
}
