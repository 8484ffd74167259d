// ABA in a free list: a take reads the head and the node behind it. Before it swings the head another
// thread takes both and gives the first back; the swing succeeds, and the second has two owners.
// ROOT CAUSE: freed_head.cpp:44; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail exit
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

struct Block {
  std::atomic<Block*> next = nullptr;
  std::atomic<int> owners = 0;
};

class FreeList {
 public:
  void give(Block* block) {
    std::uint64_t head = head_.load();
    do block->next.store(block_of(head));
    while (!head_.compare_exchange_weak(head, packed(block, head)));
  }

  Block* take() {
    std::uint64_t head = head_.load();
    while (block_of(head) != nullptr) {
      Block* behind = block_of(head)->next.load();
      if (head_.compare_exchange_weak(head, packed(behind, head))) return block_of(head);
    }
    return nullptr;
  }

 private:
  static constexpr std::uint64_t kAddress = (std::uint64_t{1} << 48) - 1;

  static Block* block_of(std::uint64_t head) { return reinterpret_cast<Block*>(head & kAddress); }

  static std::uint64_t packed(Block* block, std::uint64_t before) {
    const std::uint64_t version = before >> 48;
#ifdef FIXED
    return reinterpret_cast<std::uint64_t>(block) | (version + 1) << 48;
#else
    return reinterpret_cast<std::uint64_t>(block) | version << 48;  // never changes
#endif
  }

  std::atomic<std::uint64_t> head_ = 0;
};

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 3;
  FreeList list;
  std::vector<Block> blocks(4);
  std::atomic<int> wrong = 0;
  for (Block& block : blocks) list.give(&block);
  const auto work = [&] {
    for (int round = 0; round < 2; ++round) {
      Block* first = list.take();
      Block* second = list.take();
      for (Block* block : {first, second})
        if (block != nullptr && block->owners.fetch_add(1) != 0) ++wrong;
      for (Block* block : {first, second}) {
        if (block == nullptr) continue;
        block->owners.fetch_sub(1);
        list.give(block);
      }
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& one : all) one.join();
  return wrong == 0 ? 0 : 1;
}
