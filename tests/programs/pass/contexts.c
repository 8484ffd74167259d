// User-level contexts (ucontext.h) inside threads: a generator in each, which takes a lock and
// waits while it is on its own stack.
// EXPECT: pass
#include <pthread.h>
#include <ucontext.h>

#include "../check.h"

enum { kThreads = 3, kStack = 64 * 1024 };

static int values = 10;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int produced;

struct generator {
  ucontext_t caller;
  ucontext_t own;
  int value;
  int done;
};

static void generate(unsigned low, unsigned high) {
  struct generator* self = (struct generator*)((size_t)high << 32 | low);
  for (int i = 1; i <= values; i++) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    produced++;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    if (i == values / 2) pthread_barrier_wait(&barrier);
    self->value = i;
    CHECK(swapcontext(&self->own, &self->caller) == 0);
  }
  self->done = 1;
}

static void* run(void* unused) {
  (void)unused;
  struct generator* generator = calloc(1, sizeof *generator);
  char* stack = malloc(kStack);
  CHECK(getcontext(&generator->own) == 0);
  generator->own.uc_stack.ss_sp = stack;
  generator->own.uc_stack.ss_size = kStack;
  generator->own.uc_link = &generator->caller;
  size_t address = (size_t)generator;
  makecontext(&generator->own, (void (*)(void))generate, 2, (unsigned)address,
              (unsigned)(address >> 32));
  int sum = 0;
  for (;;) {
    CHECK(swapcontext(&generator->caller, &generator->own) == 0);
    if (generator->done) break;
    sum += generator->value;
  }
  CHECK(sum == values * (values + 1) / 2);
  free(stack);
  free(generator);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) values = atoi(argv[1]);
  pthread_t threads[kThreads];
  CHECK(pthread_barrier_init(&barrier, NULL, kThreads) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(produced == kThreads * values);

  // setcontext returns to where getcontext was called.
  volatile int turns = 0;
  ucontext_t here;
  CHECK(getcontext(&here) == 0);
  if (turns++ < 3) setcontext(&here);
  CHECK(turns == 4);
  puts("ok");
  return 0;
}
