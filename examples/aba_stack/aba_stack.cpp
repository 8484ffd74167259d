// A lock-free stack whose `pop` compares only the top node's index. If the top is popped, its
// successor is popped, and the old top is pushed again meanwhile, the compare-exchange succeeds
// and makes the successor, which another thread owns by now, the new top (the ABA problem).
// ROOT CAUSE: aba_stack.cpp:30; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static constexpr int kNone = -1;

class Stack {
 public:
  explicit Stack(int capacity) : next_(capacity), top_(kNone) {}

  void push(int node) {
    int old_top = top_.load();
    do {
      next_[node].store(old_top);
    } while (!top_.compare_exchange_weak(old_top, node));
  }

  int pop() {
    int node = top_.load();
    while (node != kNone) {
      int successor = next_[node].load();
      if (top_.compare_exchange_weak(node, successor)) return node;
    }
    return kNone;
  }

 private:
  std::vector<std::atomic<int>> next_;
  std::atomic<int> top_;
};

// Takes two nodes, gives the first one back, keeps the second.
static void take_two(Stack* stack, int* kept) {
  int first = stack->pop();
  *kept = stack->pop();
  if (first != kNone) stack->push(first);
}

static void take_one(Stack* stack, int* kept) { *kept = stack->pop(); }

int main(int argc, char** argv) {
  int nodes = argc > 1 ? std::atoi(argv[1]) : 4;
  Stack stack(nodes);
  for (int node = nodes - 1; node >= 0; node--) stack.push(node);

  int kept[2] = {kNone, kNone};
  std::thread one(take_one, &stack, &kept[0]);
  std::thread two(take_two, &stack, &kept[1]);
  one.join();
  two.join();

  // Every node has exactly one owner: a thread or the stack.
  std::vector<int> owners(nodes);
  for (int node : kept) {
    if (node != kNone) owners[node]++;
  }
  for (int node = stack.pop(), steps = 0; node != kNone && steps < nodes;
       node = stack.pop(), steps++) {
    owners[node]++;
  }
  int wrong = 0;
  for (int node = 0; node < nodes; node++) {
    if (owners[node] != 1) {
      std::printf("node %d has %d owners\n", node, owners[node]);
      wrong++;
    }
  }
  std::printf("%d of %d nodes wrong\n", wrong, nodes);
  return wrong == 0 ? 0 : 1;
}
