// Records of a traced run as bytes of a trace file, and back (docs/trace-file.md). A block's record is
// told by what differs from its record before: addresses and values mostly stay or move a little, and the
// next block is mostly the one that came next the last time. What is left is a few bytes, so that the
// compressor has little to do. What is read is untrusted.
#ifndef CLEW_HOST_OBSERVE_RECORD_CODEC_H_
#define CLEW_HOST_OBSERVE_RECORD_CODEC_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "host/translate/translator.h"

namespace clew {

// What both sides know of the records of a section so far.
class RecordHistory {
 public:
  struct Block {
    std::uint32_t section = 0;   // that the rest is of
    std::uint32_t follower = 0;  // the block that came after this one the last time; 0: none
    std::uint32_t first = 0;     // its last record without the number; 0 before the first
    std::uint32_t count = 0;
  };
  // The reference is valid until the next call. `record_size` is the same in every call for a block.
  [[nodiscard]] Block& at(std::uint32_t block, std::uint32_t record_size) {
    if (block < blocks_.size() && blocks_[block].section == section_) return blocks_[block];
    return begin_slow(block, record_size);
  }
  // Valid until the next call of at().
  [[nodiscard]] std::span<std::uint64_t> words(const Block& block) {
    return {words_.data() + block.first, block.count};
  }
  // A new section: nothing is known.
  void clear() {
    ++section_;
    words_.clear();
  }

 private:
  Block& begin_slow(std::uint32_t block, std::uint32_t record_size);

  std::vector<Block> blocks_;
  std::vector<std::uint64_t> words_;  // of all blocks
  std::uint32_t section_ = 1;
};

// The first `size` of the bytes. The memory is used again and again, and nothing of it is cleared.
struct RecordBytes {
  std::vector<std::uint8_t> memory;
  std::size_t size = 0;

  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return std::span(memory).first(size);
  }
};

class RecordEncoder {
 public:
  // The section so far.
  [[nodiscard]] bool empty() const { return used_ == 0; }
  [[nodiscard]] std::size_t expanded() const { return expanded_; }  // what it stands for, in bytes
  // And begins a new one, in the memory of `next`.
  [[nodiscard]] RecordBytes take(std::vector<std::uint8_t> next = {});

  // REQUIRES: `record` is one of the block's, of whole words.
  void block(std::uint32_t number, std::span<const std::uint8_t> record);
  void mark(std::span<const std::uint8_t> mark);

 private:
  std::uint8_t* room_for(std::size_t size);

  RecordHistory history_;
  std::vector<std::uint8_t> bytes_;  // of which so many are used:
  std::size_t used_ = 0;
  std::size_t expanded_ = 0;
  std::uint32_t expected_ = 0;  // the next block
  std::uint32_t last_ = 0;
  std::uint32_t last_size_ = 8;
};

// The records of a section, `expanded` bytes of them. Nothing: they make no sense.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> decode_records(
    std::span<const std::uint8_t> bytes, const std::deque<TranslatedBlock>& blocks,
    std::size_t expanded);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_RECORD_CODEC_H_
