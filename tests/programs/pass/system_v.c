// Shared memory and semaphores of System V: a segment attached twice, values of a whole set.
// EXPECT: pass
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/timex.h>

#include "../check.h"

enum { kSize = 10000, kRounds = 50 };
union semun {
  int value;
  struct semid_ds* set;
  unsigned short* values;
};

static int semaphores;
static int* one_view;
static int* other_view;

static void change(unsigned short which, short by) {
  struct sembuf operation = {which, by, 0};
  CHECK(semop(semaphores, &operation, 1) == 0);
}

static void* consume(void* sum) {
  for (int i = 0; i < kRounds; ++i) {
    change(1, -1);
    *(long*)sum += other_view[i];
    change(0, 1);
  }
  return NULL;
}

int main(void) {
  const int segment = shmget(IPC_PRIVATE, kSize, IPC_CREAT | 0600);
  CHECK(segment >= 0);
  one_view = shmat(segment, NULL, 0);
  other_view = shmat(segment, NULL, SHM_RDONLY);
  CHECK(one_view != (void*)-1 && other_view != (void*)-1 && one_view != other_view);
  struct shmid_ds status;
  CHECK(shmctl(segment, IPC_STAT, &status) == 0);
  CHECK(status.shm_segsz == kSize && status.shm_nattch == 2);

  semaphores = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
  CHECK(semaphores >= 0);
  unsigned short values[4] = {3, 0, 7, 7};
  CHECK(semctl(semaphores, 0, SETALL, (union semun){.values = values}) == 0);
  memset(values, 9, sizeof(short) * 2);
  CHECK(semctl(semaphores, 0, GETALL, (union semun){.values = values}) == 0);
  CHECK(values[0] == 3 && values[1] == 0 && values[2] == 7);
  struct semid_ds set;
  CHECK(semctl(semaphores, 0, IPC_STAT, (union semun){.set = &set}) == 0);
  CHECK(set.sem_nsems == 2);

  long sum = 0;
  pthread_t consumer;
  CHECK(pthread_create(&consumer, NULL, consume, &sum) == 0);
  for (int i = 0; i < kRounds; ++i) {
    change(0, -1);
    one_view[i] = i * i;
    change(1, 1);
  }
  CHECK(pthread_join(consumer, NULL) == 0);
  CHECK(sum == (kRounds - 1L) * kRounds * (2 * kRounds - 1) / 6);

  CHECK(shmdt(one_view) == 0);
  CHECK(shmdt(one_view) == -1);
  CHECK(other_view[2] == 4);
  CHECK(shmctl(segment, IPC_RMID, NULL) == 0);
  CHECK(shmdt(other_view) == 0);
  CHECK(semctl(semaphores, 0, IPC_RMID) == 0);
  struct timex clock = {0};
  CHECK(adjtimex(&clock) >= 0);
  puts("ok");
  return 0;
}
