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
  // The block has run: what comes behind it.
  void block(const BlockRun& run) {
    for (const RecordedAccess& access : run.block.accesses)
      if (access.kind != AccessKind::kRead && access.has_value &&
          run.address(access) == now_.countdown)
        countdown_ = run.value(access);
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

// Whole records. False: there are others among them, as when the program has overwritten the memory.
[[nodiscard]] bool read_code_trace(std::span<const std::uint8_t> records,
                                   const std::deque<TranslatedBlock>& blocks,
                                   CodeTraceListener& listener);

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_CODE_TRACE_H_
