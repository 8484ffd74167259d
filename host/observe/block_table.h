// What going through the records of a traced run needs of each block, side by side: a run has a few thousand
// blocks and executes them a hundred million times. Counts how often each one ran.
#ifndef CLEW_HOST_OBSERVE_BLOCK_TABLE_H_
#define CLEW_HOST_OBSERVE_BLOCK_TABLE_H_

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_set>
#include <vector>

#include "host/translate/code_trace.h"

namespace clew {

// How much a run did.
struct RunFigures {
  std::uint64_t instructions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t threads = 0;
};

class BlockTable {
 public:
  struct Block {
    std::uint32_t record_size = 0;  // 0: not looked at yet
    std::uint32_t instructions = 0;
    std::uint32_t first_write = 0;  // in writes_: offsets in the record
    std::uint32_t write_count = 0;
    std::uint64_t runs = 0;
  };

  // REQUIRES: the same blocks in every call, or more; `number` is any. Null: there is no such block.
  [[nodiscard]] Block* find(std::uint32_t number, const std::deque<TranslatedBlock>& blocks) {
    if (number < table_.size() && table_[number].record_size != 0) return &table_[number];
    return add_slow(number, blocks);
  }
  // REQUIRES: find() has found it.
  [[nodiscard]] Block& operator[](std::uint32_t number) { return table_[number]; }
  // Of accesses that may be to the countdown (TraceClock::counts).
  [[nodiscard]] std::span<const std::uint32_t> writes(const Block& block) const {
    return {writes_.data() + block.first_write, block.write_count};
  }

  // These count.
  void ran(std::uint32_t number) {
    ++table_[number].runs;
    last_ = number;
  }
  void cut(const abi::CutMark& mark, const std::deque<TranslatedBlock>& blocks);
  void returned(const abi::ReturnMark& mark) {
    if (mark.thread != thread_) threads_.insert(thread_ = mark.thread);
  }
  [[nodiscard]] RunFigures figures(const std::deque<TranslatedBlock>& blocks) const;

 private:
  Block* add_slow(std::uint32_t number, const std::deque<TranslatedBlock>& blocks);

  std::vector<Block> table_;
  std::vector<std::uint32_t> writes_;
  RunFigures not_run_;      // of blocks that were cut
  std::uint32_t last_ = 0;  // that ran; 0: none, or it was cut
  std::uint32_t thread_ = UINT32_MAX;
  std::unordered_set<std::uint32_t> threads_;
};

// Counts, and nothing else.
class RunCounter {
 public:
  [[nodiscard]] bool part(std::span<const std::uint8_t> records,
                          const std::deque<TranslatedBlock>& blocks);
  [[nodiscard]] RunFigures figures(const std::deque<TranslatedBlock>& blocks) const {
    return table_.figures(blocks);
  }

 private:
  BlockTable table_;
};

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_BLOCK_TABLE_H_
