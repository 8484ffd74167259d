// A lock-free stack of nodes that are used again. A pop reads the top and what is below it, and
// swings the top if it is still the same node: it may have been popped and pushed again in between,
// and what was below it be somebody else's now.
// ROOT CAUSE: aba_stack.cpp:50; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

static constexpr std::uint32_t kNone = 0xffff;

class Stack {
 public:
  explicit Stack(std::uint32_t size) : next_(size), owned_(size) {
    for (std::uint32_t i = 0; i < size; i++) push(i);
  }

  void push(std::uint32_t node) {
    std::uint32_t top = top_.load();
    std::uint32_t changed;
    do {
      next_[node].store(index(top));
      changed = with_tag(node, top);
    } while (!top_.compare_exchange_strong(top, changed));
  }

  std::uint32_t pop() {
    std::uint32_t top = top_.load();
    while (index(top) != kNone) {
      std::uint32_t below = next_[index(top)].load();
      if (top_.compare_exchange_strong(top, with_tag(below, top))) return index(top);
    }
    return kNone;
  }

  std::atomic<int>& owned(std::uint32_t node) { return owned_[node]; }

 private:
  static std::uint32_t index(std::uint32_t top) { return top & 0xffff; }
  // The same index with another tag is another top.
  static std::uint32_t with_tag(std::uint32_t node, std::uint32_t top) {
#ifdef FIXED
    return node | ((top & 0xffff0000) + 0x10000);
#else
    (void)top;
    return node;  // no tag
#endif
  }

  std::vector<std::atomic<std::uint32_t>> next_;
  std::vector<std::atomic<int>> owned_;
  std::atomic<std::uint32_t> top_ = kNone;
};

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 2;
  Stack stack(3);
  const auto take = [&] {
    std::uint32_t node = stack.pop();
    if (node != kNone) assert(stack.owned(node).exchange(1) == 0);
    return node;
  };
  const auto give_back = [&](std::uint32_t node) {
    if (node == kNone) return;
    stack.owned(node).store(0);
    stack.push(node);
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; i++)
    workers.emplace_back([&] {
      for (int round = 0; round < rounds; round++) {
        std::uint32_t a = take();
        std::uint32_t b = take();
        give_back(a);
        give_back(b);
      }
    });
  for (std::thread& worker : workers) worker.join();
  return 0;
}
