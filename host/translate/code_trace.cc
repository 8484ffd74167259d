#include "host/translate/code_trace.h"

namespace clew {

bool read_code_trace(std::span<const std::uint8_t> records,
                     const std::deque<TranslatedBlock>& blocks, CodeTraceListener& listener) {
  const auto size_of = [&](std::uint32_t number) -> std::uint32_t {
    if (number >= blocks.size() || blocks[number].instructions.empty()) return 0;
    return blocks[number].record_size;
  };
  struct Teller {
    const std::deque<TranslatedBlock>& blocks;
    CodeTraceListener& listener;

    void block(std::uint32_t number, std::span<const std::uint8_t> record) {
      listener.block({blocks[number], record});
    }
    void cut(const abi::CutMark& mark) { listener.cut(mark.address); }
    void returned(const abi::ReturnMark& mark) { listener.returned(mark); }
  };
  return walk_code_trace(records, size_of, Teller{blocks, listener});
}

}  // namespace clew
