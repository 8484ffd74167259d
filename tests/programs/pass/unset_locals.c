/* Functions that read local variables which they never set, after functions with points in loops, in
 * loops that need registers which a caller saves, and without any call: what the hooks of points leave
 * on the stack must not be found, since a replay looks at other points. It prints what it has found.
 * EXPECT: pass */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { kThreads = 3, kRounds = 40, kWords = 40, kCells = 64 };

static uint64_t cells[kThreads][kCells];
static uint64_t sums[kThreads];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t order;

__attribute__((noinline)) static uint64_t look(void) {
  volatile uint64_t words[kWords];
  uint64_t sum = 0;
  for (int i = 0; i < kWords; ++i) sum = sum * 1000003 + words[i];
  return sum;
}

__attribute__((noinline)) static uint64_t mix(uint64_t* row, uint64_t count, uint64_t a,
                                              uint64_t b) {
  uint64_t c = a ^ 1;
  for (uint64_t i = 0; i < count; ++i) {
    a += row[i % kCells] * b;
    b ^= c + a;
    c = c * 3 + i;
    if (a & 1) row[(i + 7) % kCells] = b;
  }
  return a ^ b ^ c;
}

/* Calls nothing. */
__attribute__((noinline)) static void leaf(long self, int round) {
  cells[self][round % kCells]++;
  cells[self][(round + 1) % kCells] ^= 5;
}

__attribute__((noinline)) static uint64_t scan(const uint64_t* row, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i)
    if (row[i] & 1) sum += row[i] * i;
  return sum;
}

/* Saves registers of its caller. */
__attribute__((noinline)) static uint64_t scan_three(const uint64_t* row, uint64_t a, uint64_t b,
                                                     uint64_t c) {
  uint64_t sum = scan(row, a % 9);
  sum += scan(row, b % 9);
  return sum + scan(row, c % 9) + a * b * c;
}

static void note(long self, uint64_t value) { sums[self] = sums[self] * 31 + value; }

static void* work(void* argument) {
  const long self = (long)argument;
  for (int round = 0; round < kRounds; ++round) {
    note(self, mix(cells[self], 30, (uint64_t)round, (uint64_t)self));
    note(self, look());
    leaf(self, round);
    note(self, look());
    note(self, scan(cells[self], kCells));
    note(self, look());
    note(self, scan_three(cells[self], (uint64_t)round, 5, 7));
    note(self, look());
    pthread_mutex_lock(&mutex);
    order = order * 3 + (uint64_t)self;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) printf("%d %016lx\n", i, (unsigned long)sums[i]);
  printf("%016lx\n", (unsigned long)order);
  return 0;
}
