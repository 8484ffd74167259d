#include "host/translate/code_trace.h"

namespace clew {
namespace {

template <class Record>
bool take(std::span<const std::uint8_t>& records, Record& record) {
  if (records.size() < sizeof record) return false;
  std::memcpy(&record, records.data(), sizeof record);
  records = records.subspan(sizeof record);
  return true;
}

}  // namespace

bool read_code_trace(std::span<const std::uint8_t> records,
                     const std::deque<TranslatedBlock>& blocks, CodeTraceListener& listener) {
  while (!records.empty()) {
    std::uint32_t number;
    if (records.size() < 8) return false;
    std::memcpy(&number, records.data(), sizeof number);
    if (number == abi::kReturnMark) {
      abi::ReturnMark mark;
      if (!take(records, mark)) return false;
      listener.returned(mark);
    } else if (number == abi::kCutMark) {
      abi::CutMark mark;
      if (!take(records, mark)) return false;
      listener.cut(mark.address);
    } else {
      if (number == 0 || number >= blocks.size()) return false;
      const TranslatedBlock& block = blocks[number];
      if (block.instructions.empty() || records.size() < block.record_size) return false;
      listener.block({block, records.first(block.record_size)});
      records = records.subspan(block.record_size);
    }
  }
  return true;
}

}  // namespace clew
