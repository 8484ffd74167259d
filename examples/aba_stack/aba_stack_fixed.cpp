// aba_stack.cpp, fixed: the top carries a count that every change increments, so a top that has
// been away and come back is not the same top.
// EXPECT: pass
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static constexpr int kNone = -1;

class Stack {
 public:
  explicit Stack(int capacity) : next_(capacity), top_(Top{kNone, 0}) {}

  void push(int node) {
    Top old_top = top_.load();
    do {
      next_[node].store(old_top.node);
    } while (!top_.compare_exchange_weak(old_top, Top{node, old_top.changes + 1}));
  }

  int pop() {
    Top top = top_.load();
    while (top.node != kNone) {
      Top new_top{next_[top.node].load(), top.changes + 1};
      if (top_.compare_exchange_weak(top, new_top)) return top.node;
    }
    return kNone;
  }

 private:
  struct Top {
    int node;
    unsigned changes;
  };

  std::vector<std::atomic<int>> next_;
  std::atomic<Top> top_;
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
