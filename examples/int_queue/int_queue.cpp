// IntQueue of Choi and Zeller 2002, figure 2, with its line numbers. Only accesses to `link` are
// locked: an `enqueue` between the last steps of `dequeue` finds no tail, and its element is lost.
//   clew c++ -O0 -g -fclew-yield=line int_queue.cpp -o int_queue -pthread
//   figure 3: pass   6:T0.2,12:T0.3
//   figure 4: fail   5:T0.2,7:T0.1,8:T0.2,10:T0.3,15:T0.2
//   figure 5: pass   5:T0.2,7:T0.1,8:T0.2,13:T0.3,17
// ROOT CAUSE: int_queue.cpp:47 (status 1), int_queue.cpp:36 (status 1, an `enqueue` overtaken before its tail); KIND: data-race
// PREEMPTIONS: 1 (10:T0.3 alone is enough)
// EXPECT: fail exit
#include <clew/clew.h>
#include <pthread.h>

#include <cstdio>

// clang-format off
struct IntQueue {
  // The queue holds integers in the range [1..kNumberOfElements - 1].
  static constexpr int kNumberOfElements = 100;
  int link[kNumberOfElements] = {};  // link[n] is n's successor in the queue
  int head = 0;                      // first element of the queue; 0: the queue is empty
  int tail = 0;                      // last element of the queue


  // Enqueues elem.
  void enqueue(int elem) {
    link[elem] = 0;

    if (head == 0)
      head = elem;
    else
      // Java: synchronized (this). It is on one line, to be one tick of the clock.
      { Synchronized region(*this); link[tail] = elem; }


    // Line 35 in figure 2, but 36 in figures 3 to 5.
    tail = elem;
  }

  // Returns the first element of the queue.
  // No error checking.
  int dequeue() {
    int elem = head;
    if (elem == tail)
      tail = 0;


    { Synchronized region(*this); head = link[head]; }


    return elem;
  }
  // clang-format on

  // Java's monitor: holds the queue's lock for a scope. The scope has no yield points of its own,
  // so the line it stands on is one tick, the one before the lock is taken.
  class Synchronized {
   public:
    CLEW_NO_YIELD explicit Synchronized(IntQueue& queue) : queue_(queue) {
      clew_no_yield_begin();
      pthread_mutex_lock(&queue_.monitor);
    }
    CLEW_NO_YIELD ~Synchronized() {
      pthread_mutex_unlock(&queue_.monitor);
      clew_no_yield_end();
    }

   private:
    IntQueue& queue_;
  };

  CLEW_NO_YIELD void print() const {
    for (int e = head; e != 0; e = link[e]) std::printf("%d ", e);
    std::puts(head == 0 ? "(empty)" : "");
  }

  pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
};

static IntQueue queue;
static int dequeued;

// Figure 5's "..." at clock 12: what B does once `dequeue` has returned. One tick, at its entry.
static void after_dequeue() {}

CLEW_NO_YIELD static void* thread_a(void*) {
  queue.enqueue(11);
  return nullptr;
}

CLEW_NO_YIELD static void* thread_b(void*) {
  dequeued = queue.dequeue();
  after_dequeue();
  return nullptr;
}

CLEW_NO_YIELD static void* thread_c(void*) {
  queue.enqueue(95);
  return nullptr;
}

// The test of the paper's section 4.2: 95 must be in the queue (pass, status 0); an empty queue is
// the failure (1); anything else is neither (2), as when B came before A.
CLEW_NO_YIELD int main() {
  pthread_t a, b, c;
  pthread_create(&a, nullptr, thread_a, nullptr);
  pthread_create(&b, nullptr, thread_b, nullptr);
  pthread_create(&c, nullptr, thread_c, nullptr);
  pthread_join(a, nullptr);
  pthread_join(b, nullptr);
  pthread_join(c, nullptr);

  std::printf("dequeued %d, queue: ", dequeued);
  queue.print();
  if (queue.head == 0) return 1;
  return queue.head == 95 && queue.link[95] == 0 ? 0 : 2;
}
