#include "host/observe/block_table.h"

#include <algorithm>
#include <utility>

namespace clew {
namespace {

void count(const RecordedAccess& access, std::uint64_t times, RunFigures& figures) {
  if (access.kind != AccessKind::kWrite) figures.reads += times;
  if (access.kind != AccessKind::kRead) figures.writes += times;
}

}  // namespace

BlockTable::Block* BlockTable::add_slow(std::uint32_t number,
                                        const std::deque<TranslatedBlock>& blocks) {
  if (number >= blocks.size() || blocks[number].instructions.empty()) return nullptr;
  if (number >= table_.size()) table_.resize(blocks.size());
  const TranslatedBlock& block = blocks[number];
  Block& added = table_[number];
  added.record_size = block.record_size;
  added.instructions = static_cast<std::uint32_t>(block.instructions.size());
  added.first_write = static_cast<std::uint32_t>(writes_.size());
  for (const RecordedAccess& access : block.accesses)
    if (TraceClock::counts(access)) writes_.push_back(access.offset);
  added.write_count = static_cast<std::uint32_t>(writes_.size()) - added.first_write;
  return &added;
}

void BlockTable::cut(const abi::CutMark& mark, const std::deque<TranslatedBlock>& blocks) {
  if (last_ == 0) return;
  const TranslatedBlock& block = blocks[std::exchange(last_, 0)];
  const auto first = static_cast<std::size_t>(
      std::ranges::lower_bound(block.instructions, mark.address - block.address) -
      block.instructions.begin());
  not_run_.instructions += block.instructions.size() - first;
  for (const RecordedAccess& access : block.accesses)
    if (access.instruction >= first) count(access, 1, not_run_);
}

RunFigures BlockTable::figures(const std::deque<TranslatedBlock>& blocks) const {
  RunFigures sum;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const std::uint64_t runs = table_[i].runs;
    sum.blocks += runs;
    sum.instructions += runs * table_[i].instructions;
    for (const RecordedAccess& access : blocks[i].accesses) count(access, runs, sum);
  }
  sum.instructions -= not_run_.instructions;
  sum.reads -= not_run_.reads;
  sum.writes -= not_run_.writes;
  sum.threads = threads_.size();
  return sum;
}

bool RunCounter::part(std::span<const std::uint8_t> records,
                      const std::deque<TranslatedBlock>& blocks) {
  const auto size_of = [&](std::uint32_t number) {
    const BlockTable::Block* const block = table_.find(number, blocks);
    return block == nullptr ? 0 : block->record_size;
  };
  struct Counting {
    BlockTable& table;
    const std::deque<TranslatedBlock>& blocks;

    void block(std::uint32_t number, std::span<const std::uint8_t>) { table.ran(number); }
    void cut(const abi::CutMark& mark) { table.cut(mark, blocks); }
    void returned(const abi::ReturnMark& mark) { table.returned(mark); }
  };
  return walk_code_trace(records, size_of, Counting{table_, blocks});
}

}  // namespace clew
