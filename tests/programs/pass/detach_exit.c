// Detached threads, pthread_exit from deep inside, joining from other threads, self and equal;
// finally main ends by pthread_exit and the process continues until another thread ends it.
// EXPECT: pass
#include <pthread.h>
#include <semaphore.h>

#include "../check.h"

static sem_t detached_done;
static sem_t main_waits;
static pthread_t main_thread;

static void* say_done(void* arg) {
  (void)arg;
  CHECK(!pthread_equal(pthread_self(), main_thread));
  sem_post(&detached_done);
  return NULL;
}

static void* detach_self(void* arg) {
  (void)arg;
  CHECK(pthread_detach(pthread_self()) == 0);
  sem_post(&detached_done);
  return NULL;
}

static void leave_from(int depth) {
  if (depth == 0) pthread_exit((void*)99L);
  leave_from(depth - 1);
}

static void* leave_deep(void* arg) {
  leave_from((int)(long)arg);
  CHECK(!"not reached");
  return NULL;
}

static void* join_other(void* arg) {
  void* result = NULL;
  CHECK(pthread_join(*(pthread_t*)arg, &result) == 0);
  return result;
}

static void* last(void* arg) {
  (void)arg;
  sem_wait(&main_waits);
  puts("ok");
  exit(0);
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 4;
  main_thread = pthread_self();
  CHECK(pthread_equal(main_thread, pthread_self()));
  sem_init(&detached_done, 0, 0);
  sem_init(&main_waits, 0, 0);

  pthread_t thread, other;
  pthread_attr_t attr;
  int state = -1;
  CHECK(pthread_attr_init(&attr) == 0);
  CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
  CHECK(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < count; i++) {
    CHECK(pthread_create(&thread, &attr, say_done, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, detach_self, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, say_done, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
  }
  CHECK(pthread_attr_destroy(&attr) == 0);
  for (int i = 0; i < 3 * count; i++) CHECK(sem_wait(&detached_done) == 0);

  CHECK(pthread_create(&thread, NULL, leave_deep, (void*)20L) == 0);
  CHECK(pthread_create(&other, NULL, join_other, &thread) == 0);
  void* result = NULL;
  CHECK(pthread_join(other, &result) == 0);
  CHECK((long)result == 99);

  CHECK(pthread_create(&thread, NULL, last, NULL) == 0);
  CHECK(pthread_detach(thread) == 0);
  sem_post(&main_waits);
  pthread_exit(NULL);
}
