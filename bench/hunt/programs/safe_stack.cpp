// SafeStack (after a puzzle by Dmitry Vyukov): a lock-free stack of indices. A pop takes the link
// out of the top element before it swings the head, and the last element is never popped: together
// this should prevent ABA. It does not: a pop that took the link of an element that is being pushed
// keeps it while the push tries again with another one, and so makes an element the head that has
// an owner.
// ROOT CAUSE: safe_stack.cpp:50; KIND: atomicity-violation
// PREEMPTIONS: 7
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <thread>
#include <vector>

static constexpr int kNone = -1;
static constexpr int kPatience = 20;  // unsuccessful tries of a thread; a broken stack ends too

struct Element {
  std::atomic<int> owner = kNone;
  std::atomic<int> next = kNone;
};

#ifdef FIXED
struct Head {
  int index;
  unsigned changes;
};
#endif

class SafeStack {
 public:
  explicit SafeStack(int size) : elements_(size), count_(size) {
    for (int i = 0; i + 1 < size; i++) elements_[i].next = i + 1;
  }

  // Waits for an element, but not for the last. kNone: there was none after all the tries.
  int pop(int* patience) {
    for (; *patience > 0; --*patience) {
      if (count_.load() <= 1) continue;
#ifdef FIXED
      Head head = head_.load();
      int next = elements_[head.index].next.load();
      if (next == kNone) continue;
      if (head_.compare_exchange_strong(head, Head{next, head.changes + 1})) {
        count_.fetch_sub(1);
        return head.index;
      }
#else
      int head = head_.load();
      int next = elements_[head].next.exchange(kNone);
      if (next == kNone) continue;
      int expected = head;
      if (head_.compare_exchange_strong(expected, next)) {
        count_.fetch_sub(1);
        return head;
      }
      elements_[head].next.exchange(next);
#endif
    }
    return kNone;
  }

  void push(int index) {
#ifdef FIXED
    Head head = head_.load();
    do {
      elements_[index].next.store(head.index);
    } while (!head_.compare_exchange_strong(head, Head{index, head.changes + 1}));
#else
    int head = head_.load();
    do {
      elements_[index].next.store(head);
    } while (!head_.compare_exchange_strong(head, index));
#endif
    count_.fetch_add(1);
  }

  std::atomic<int>& owner(int index) { return elements_[index].owner; }

 private:
  std::vector<Element> elements_;
#ifdef FIXED
  std::atomic<Head> head_ = Head{0, 0};
#else
  std::atomic<int> head_ = 0;
#endif
  std::atomic<int> count_;
};

static void work(SafeStack* stack, int self, int rounds) {
  int patience = kPatience;
  for (int i = 0; i < rounds; i++) {
    int index = stack->pop(&patience);
    if (index == kNone) return;
    stack->owner(index).store(self);
    assert(stack->owner(index).load() == self);
    stack->push(index);
  }
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 3;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 2;
  SafeStack stack(threads);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; i++) workers.emplace_back(work, &stack, i, rounds);
  for (std::thread& worker : workers) worker.join();
  return 0;
}
