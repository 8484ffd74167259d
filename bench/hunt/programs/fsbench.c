// A file system: N threads each want a block for an inode of their own, the first free one from a
// place that depends on the inode. Whether a block is free is looked up before its lock is taken.
// ROOT CAUSE: fsbench.c:25; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kInodes = 32, kBlocks = 26 };

static pthread_mutex_t inode_mutex[kInodes], block_mutex[kBlocks];
static int inode[kInodes];  // its block plus one, or 0
static volatile int busy[kBlocks];

static int take(int block) {
#ifdef FIXED
  pthread_mutex_lock(&block_mutex[block]);
  int taken = !busy[block];
  busy[block] = 1;
  pthread_mutex_unlock(&block_mutex[block]);
  return taken;
#else
  if (busy[block]) return 0;
  pthread_mutex_lock(&block_mutex[block]);
  busy[block] = 1;
  pthread_mutex_unlock(&block_mutex[block]);
  return 1;
#endif
}

static void* create_file(void* arg) {
  int i = (int)(intptr_t)arg % kInodes;
  pthread_mutex_lock(&inode_mutex[i]);
  if (inode[i] == 0) {
    int block = i * 2 % kBlocks;
    while (!take(block)) block = (block + 1) % kBlocks;
    inode[i] = block + 1;
  }
  pthread_mutex_unlock(&inode_mutex[i]);
  return NULL;
}

int main(int argc, char** argv) {
  int files = argc > 1 ? atoi(argv[1]) : kBlocks;  // at most kBlocks
  pthread_t thread[kBlocks];
  for (int i = 0; i < kInodes; i++) pthread_mutex_init(&inode_mutex[i], NULL);
  for (int i = 0; i < kBlocks; i++) pthread_mutex_init(&block_mutex[i], NULL);
  for (intptr_t i = 0; i < files; i++) pthread_create(&thread[i], NULL, create_file, (void*)i);
  for (int i = 0; i < files; i++) pthread_join(thread[i], NULL);

  int owner[kBlocks] = {0};
  for (int i = 0; i < kInodes; i++) {
    if (inode[i] == 0) continue;
    if (owner[inode[i] - 1]++ != 0) {
      printf("block %d has two owners\n", inode[i] - 1);
      exit(1);
    }
  }
  return 0;
}
