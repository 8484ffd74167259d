// A parallel quicksort: a thread that has split its part gives one half to an idle thread, if there
// is one. The last thread to become idle ends the others. Whether a thread is idle is looked up
// before its slot is locked: two can give their halves to the same one, and one half is lost.
// ROOT CAUSE: quicksort.c:44; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { kMostThreads = 8, kMostItems = 64, kSmall = 4 };
enum State { kIdle, kWork, kEnd };

struct Slot {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  volatile enum State state;
  int* first;
  int count;
};

static struct Slot slots[kMostThreads];
static int threads = 3;
static int items[kMostItems];
static int items_count = 16;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int idle;  // under mutex

static void set_state(struct Slot* slot, enum State state) {
  pthread_mutex_lock(&slot->mutex);
  slot->state = state;
  pthread_cond_signal(&slot->changed);
  pthread_mutex_unlock(&slot->mutex);
}

// With its mutex held; NULL: there is none.
static struct Slot* lock_idle_slot(void) {
  for (int i = 0; i < threads; i++) {
#ifdef FIXED
    pthread_mutex_lock(&slots[i].mutex);
    if (slots[i].state == kIdle) return &slots[i];
    pthread_mutex_unlock(&slots[i].mutex);
#else
    if (slots[i].state != kIdle) continue;
    pthread_mutex_lock(&slots[i].mutex);
    return &slots[i];
#endif
  }
  return NULL;
}

static int give_away(int* first, int count) {
  struct Slot* slot = lock_idle_slot();
  if (slot == NULL) return 0;
  slot->first = first;
  slot->count = count;
  slot->state = kWork;
  pthread_mutex_lock(&mutex);
  idle--;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&slot->changed);
  pthread_mutex_unlock(&slot->mutex);
  return 1;
}

static void insertion_sort(int* first, int count) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && first[j - 1] > first[j]; j--) {
      int other = first[j];
      first[j] = first[j - 1];
      first[j - 1] = other;
    }
}

static void sort(int* first, int count) {
  while (count > kSmall) {
    int pivot = first[count / 2], low = 0, high = count - 1;
    while (low <= high) {
      while (first[low] < pivot) low++;
      while (first[high] > pivot) high--;
      if (low > high) break;
      int other = first[low];
      first[low++] = first[high];
      first[high--] = other;
    }
    if (!give_away(first + low, count - low)) sort(first + low, count - low);
    count = high + 1;
  }
  insertion_sort(first, count);
}

static void* work(void* arg) {
  struct Slot* slot = arg;
  for (;;) {
    pthread_mutex_lock(&slot->mutex);
    while (slot->state == kIdle) pthread_cond_wait(&slot->changed, &slot->mutex);
    enum State state = slot->state;
    int* first = slot->first;
    int count = slot->count;
    pthread_mutex_unlock(&slot->mutex);
    if (state == kEnd) return NULL;
    sort(first, count);
    set_state(slot, kIdle);
    pthread_mutex_lock(&mutex);
    int all = ++idle == threads;
    pthread_mutex_unlock(&mutex);
    if (all)
      for (int i = 0; i < threads; i++) set_state(&slots[i], kEnd);
  }
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) items_count = atoi(argv[2]);
  pthread_t thread[kMostThreads];
  for (int i = 0; i < items_count; i++) items[i] = (i * 37 + 11) % 101;
  for (int i = 0; i < threads; i++) {
    pthread_mutex_init(&slots[i].mutex, NULL);
    pthread_cond_init(&slots[i].changed, NULL);
  }
  idle = threads;
  // The first part is given away like any other.
  give_away(items, items_count);
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, &slots[i]);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  for (int i = 1; i < items_count; i++) assert(items[i - 1] <= items[i]);
  return 0;
}
