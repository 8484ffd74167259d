// MacDonald, Chen, Novillo 2006, figure 2: what the third thread prints may be the initial value or
// what either of the others wrote last. The first write of the first thread does not leave its
// critical section. OPEN_1 and OPEN_3: without the lock of the first or of the third thread.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a = 0;

static void* first(void* unused) {
#ifndef OPEN_1
  pthread_mutex_lock(&lock);
#endif
  *(volatile int*)&a = 1;
  *(volatile int*)&a = 2;
#ifndef OPEN_1
  pthread_mutex_unlock(&lock);
#endif
  return unused;
}

static void* second(void* unused) {
  pthread_mutex_lock(&lock);
  *(volatile int*)&a = 3;
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* third(void* unused) {
#ifndef OPEN_3
  pthread_mutex_lock(&lock);
#endif
  int seen = *(volatile int*)&a;
#ifndef OPEN_3
  pthread_mutex_unlock(&lock);
#endif
  printf("%d\n", seen);
  return unused;
}

int main(void) {
  void* (*const bodies[])(void*) = {first, second, third};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, bodies[i], 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return 0;
}
