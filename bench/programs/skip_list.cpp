// A skip list that one thread extends while the others read it without locks: every pointer is atomic,
// and nearly every access is to memory that threads share.
// Usage: skip_list [threads] [size]; size is the number of keys that are inserted.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

static constexpr int kLevels = 10;

struct Node {
  explicit Node(std::uint64_t k) : key(k) {}
  std::uint64_t key;
  std::array<std::atomic<Node*>, kLevels> next{};
};

class SkipList {
 public:
  // Only one thread at a time inserts.
  void insert(std::uint64_t key) {
    std::array<Node*, kLevels> before{};
    find(key, &before);
    Node* node = &nodes_.emplace_back(key);
    const int levels = draw_levels();
    for (int level = 0; level < levels; ++level) {
      auto& next = before[static_cast<std::size_t>(level)]->next[static_cast<std::size_t>(level)];
      node->next[static_cast<std::size_t>(level)].store(next.load(std::memory_order_relaxed),
                                                        std::memory_order_relaxed);
      next.store(node, std::memory_order_release);
    }
  }

  bool contains(std::uint64_t key) const {
    const Node* found = find(key, nullptr);
    return found != nullptr && found->key == key;
  }

 private:
  Node* find(std::uint64_t key, std::array<Node*, kLevels>* before) const {
    Node* at = &head_;
    Node* next = nullptr;
    for (std::size_t level = kLevels; level-- > 0;) {
      while ((next = at->next[level].load(std::memory_order_acquire)) != nullptr && next->key < key)
        at = next;
      if (before != nullptr) (*before)[level] = at;
    }
    return next;  // and not what is there now: a smaller key may have come in between
  }

  int draw_levels() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    int levels = 1;
    for (std::uint64_t bits = state_ >> 40; levels < kLevels && bits % 2 == 0; bits /= 2) ++levels;
    return levels;
  }

  mutable Node head_{0};
  std::deque<Node> nodes_;
  std::uint64_t state_ = 1;
};

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 3;
  const std::uint64_t size = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
  const auto key_of = [&](std::uint64_t i) { return 1 + i * 7919 % (size * 16); };
  SkipList list;
  std::atomic<std::uint64_t> inserted = 0;
  std::atomic<bool> wrong = false;
  std::vector<std::thread> all;
  all.emplace_back([&] {
    for (std::uint64_t i = 0; i < size; ++i) {
      list.insert(key_of(i));
      inserted.store(i + 1, std::memory_order_release);
    }
  });
  for (int reader = 1; reader < threads; ++reader)
    all.emplace_back([&, reader] {
      std::uint64_t state = static_cast<std::uint64_t>(reader);
      for (std::uint64_t i = 0; i < size; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const std::uint64_t there = inserted.load(std::memory_order_acquire);
        if (there > 0 && !list.contains(key_of((state >> 33) % there))) wrong = true;
      }
    });
  for (std::thread& one : all) one.join();
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < size; ++i) found += list.contains(key_of(i)) ? 1 : 0;
  std::printf("%llu\n%s\n", static_cast<unsigned long long>(found),
              wrong || found != size ? "wrong" : "ok");
  return wrong || found != size ? 1 : 0;
}
