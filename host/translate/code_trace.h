// What a translated run has written down, read back: blocks in the order in which they ran, and
// marks between them.
#ifndef CLEW_HOST_TRANSLATE_CODE_TRACE_H_
#define CLEW_HOST_TRANSLATE_CODE_TRACE_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <span>

#include "host/translate/translator.h"

namespace clew {

// One execution of a block.
struct BlockRun {
  const TranslatedBlock& block;
  std::span<const std::uint8_t> record;

  [[nodiscard]] std::uint64_t word(std::uint32_t offset) const {
    std::uint64_t value;
    std::memcpy(&value, record.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::uint64_t address(const RecordedAccess& access) const {
    return word(access.offset);
  }
  // The first eight bytes. REQUIRES: access.has_value.
  [[nodiscard]] std::uint64_t value(const RecordedAccess& access) const {
    return word(access.offset + 8);
  }
};

class CodeTraceListener {
 public:
  virtual ~CodeTraceListener() = default;
  virtual void block(const BlockRun& run) = 0;
  // Of the last block, the instructions from `address` on were not executed.
  virtual void cut(std::uint64_t address) = 0;
  virtual void returned(const abi::ReturnMark& mark) = 0;
};

// The clock at each block of a run, from what it has written down.
class TraceClock {
 public:
  void returned(const abi::ReturnMark& mark) {
    now_ = mark;
    countdown_ = mark.limit - 1 - mark.clock;
  }
  // Whether a block's record of it is to be given to wrote().
  [[nodiscard]] static bool counts(const RecordedAccess& access) {
    return access.kind != AccessKind::kRead && access.has_value;
  }
  void wrote(std::uint64_t address, std::uint64_t value) {
    if (address == now_.countdown) countdown_ = value;
  }
  // The block has run: what comes behind it.
  void block(const BlockRun& run) {
    for (const RecordedAccess& access : run.block.accesses)
      if (counts(access)) wrote(run.address(access), run.value(access));
  }
  // Points passed.
  [[nodiscard]] std::uint64_t clock() const {
    return now_.limit == 0 ? now_.clock : now_.limit - 1 - countdown_;
  }
  // As the runtime would write it down now.
  [[nodiscard]] abi::ReturnMark mark() const {
    abi::ReturnMark mark = now_;
    mark.clock = clock();
    return mark;
  }

 private:
  abi::ReturnMark now_{abi::kReturnMark, 0, 0, 0, 0, 0};
  std::uint64_t countdown_ = 0;
};

// Goes through whole records. `size_of(number)` is the size of a block's record, 0 if there is no such block;
// `visitor` has block(number, record), cut(mark) and returned(mark). False: there are others among them, as
// when the program has overwritten the memory.
template <class SizeOf, class Visitor>
[[nodiscard]] bool walk_code_trace(std::span<const std::uint8_t> records, SizeOf&& size_of,
                                   Visitor&& visitor) {
  const auto take = [&](auto& record) {
    if (records.size() < sizeof record) return false;
    std::memcpy(&record, records.data(), sizeof record);
    records = records.subspan(sizeof record);
    return true;
  };
  while (!records.empty()) {
    std::uint32_t number;
    if (records.size() < 8) return false;
    std::memcpy(&number, records.data(), sizeof number);
    if (number == abi::kReturnMark) {
      abi::ReturnMark mark;
      if (!take(mark)) return false;
      visitor.returned(mark);
    } else if (number == abi::kCutMark) {
      abi::CutMark mark;
      if (!take(mark)) return false;
      visitor.cut(mark);
    } else {
      const std::uint32_t size = size_of(number);
      if (size == 0 || records.size() < size) return false;
      visitor.block(number, records.first(size));
      records = records.subspan(size);
    }
  }
  return true;
}

// The same, each told to the listener.
[[nodiscard]] bool read_code_trace(std::span<const std::uint8_t> records,
                                   const std::deque<TranslatedBlock>& blocks,
                                   CodeTraceListener& listener);

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_CODE_TRACE_H_
