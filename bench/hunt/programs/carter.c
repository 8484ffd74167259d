// Two groups share a room: the first of a group to come in locks it, the last to leave unlocks it.
// Both groups count under the same lock, so the second group waits for the room with the lock held
// that the first needs in order to leave.
// ROOT CAUSE: carter.c:20; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t counting[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER;
static int inside[2];

static pthread_mutex_t* counting_of(int group) {
#ifdef FIXED
  return &counting[group];
#else
  (void)group;
  return &counting[0];
#endif
}

static void* visit(void* arg) {
  int group = (int)(intptr_t)arg;
  pthread_mutex_lock(counting_of(group));
  if (++inside[group] == 1) pthread_mutex_lock(&room);
  pthread_mutex_unlock(counting_of(group));

  pthread_mutex_lock(counting_of(group));
  if (--inside[group] == 0) pthread_mutex_unlock(&room);
  pthread_mutex_unlock(counting_of(group));
  return NULL;
}

static void* pass_by(void* arg) { return arg; }

int main(void) {
  pthread_t thread[4];
  for (intptr_t i = 0; i < 4; i++) {
    pthread_create(&thread[i], NULL, i < 2 ? visit : pass_by, (void*)i);
  }
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  return 0;
}
