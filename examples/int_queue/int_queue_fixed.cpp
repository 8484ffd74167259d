// int_queue.cpp, fixed: each operation holds the lock from its first access of the queue to its
// last. Threads may still run in any order, so the test only requires that no element is lost or
// doubled.
// EXPECT: pass
#include <pthread.h>

#include <cstdio>

class IntQueue {
 public:
  static constexpr int kNumberOfElements = 100;

  void enqueue(int elem) {
    pthread_mutex_lock(&mutex_);
    link_[elem] = 0;
    if (head_ == 0)
      head_ = elem;
    else
      link_[tail_] = elem;
    tail_ = elem;
    pthread_mutex_unlock(&mutex_);
  }

  // Returns the first element, or 0 if there is none.
  int dequeue() {
    pthread_mutex_lock(&mutex_);
    int elem = head_;
    if (elem == tail_) tail_ = 0;
    head_ = link_[head_];
    pthread_mutex_unlock(&mutex_);
    return elem;
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  int link_[kNumberOfElements] = {};  // link_[n] is n's successor in the queue
  int head_ = 0;
  int tail_ = 0;
};

static IntQueue queue;
static int dequeued;

static void* thread_a(void*) {
  queue.enqueue(11);
  return nullptr;
}

static void* thread_b(void*) {
  dequeued = queue.dequeue();
  return nullptr;
}

static void* thread_c(void*) {
  queue.enqueue(95);
  return nullptr;
}

int main() {
  pthread_t a, b, c;
  pthread_create(&a, nullptr, thread_a, nullptr);
  pthread_create(&b, nullptr, thread_b, nullptr);
  pthread_create(&c, nullptr, thread_c, nullptr);
  pthread_join(a, nullptr);
  pthread_join(b, nullptr);
  pthread_join(c, nullptr);

  int count_11 = dequeued == 11;
  int count_95 = dequeued == 95;
  std::printf("dequeued %d, queue:", dequeued);
  while (int elem = queue.dequeue()) {
    std::printf(" %d", elem);
    count_11 += elem == 11;
    count_95 += elem == 95;
  }
  std::puts("");
  return count_11 == 1 && count_95 == 1 ? 0 : 1;
}
