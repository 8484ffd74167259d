// A reader without a lock checks that the version of a record is what it was before: but the version
// has three bits, and after four writes it is the same again. Only a reader that is preempted while
// exactly so many writes are made sees halves of two records; more switches hide it.
// ROOT CAUSE: wrapped_version.c:15; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail assert
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef FIXED
enum { kVersions = 1 << 30 };
#else
enum { kVersions = 8 };
#endif

static atomic_int version;
static atomic_int left, right;
static int writes = 5, reads = 3;

static void* write_records(void* arg) {
  (void)arg;
  for (int i = 1; i <= writes; i++) {
    atomic_store(&version, (atomic_load(&version) + 1) % kVersions);
    atomic_store(&left, i);
    atomic_store(&right, i);
    atomic_store(&version, (atomic_load(&version) + 1) % kVersions);
  }
  return NULL;
}

static void* read_records(void* arg) {
  (void)arg;
  for (int i = 0; i < reads; i++) {
    int before = atomic_load(&version);
    int a = atomic_load(&left);
    int b = atomic_load(&right);
    if (before % 2 == 0 && atomic_load(&version) == before) assert(a == b);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) writes = atoi(argv[1]);
  if (argc > 2) reads = atoi(argv[2]);
  pthread_t writer, reader;
  pthread_create(&writer, NULL, write_records, NULL);
  pthread_create(&reader, NULL, read_records, NULL);
  pthread_join(writer, NULL);
  pthread_join(reader, NULL);
  return 0;
}
