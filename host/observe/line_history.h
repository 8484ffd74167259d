// What a source line did each time it ran: its reads and writes, with their values.
#ifndef CLEW_HOST_OBSERVE_LINE_HISTORY_H_
#define CLEW_HOST_OBSERVE_LINE_HISTORY_H_

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/symbolize/symbolizer.h"
#include "host/translate/code_trace.h"

namespace clew {

struct SourceLine {
  std::string file;  // a path or the end of one
  std::uint32_t line = 0;
};

struct LineAccess {
  std::uint64_t clock = 0;  // points passed before it
  std::uint32_t thread = 0;
  AccessKind kind = AccessKind::kRead;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool has_value = false;   // of an update the new one
  std::uint64_t value = 0;  // the first eight bytes
  std::uint32_t step = 0;   // blocks that ran before its own
};

// The instructions of the line among those of the blocks.
[[nodiscard]] std::unordered_set<std::uint64_t> instructions_of(
    const SourceLine& line, const std::deque<TranslatedBlock>& blocks, Symbolizer& symbols);

// Keeps the accesses of some instructions, the first `most` of them.
class LineHistory : public CodeTraceListener {
 public:
  LineHistory(std::unordered_set<std::uint64_t> instructions, std::size_t most)
      : instructions_(std::move(instructions)), most_(most) {}

  void block(const BlockRun& run) override;
  void cut(std::uint64_t address) override;
  void returned(const abi::ReturnMark& mark) override;

  [[nodiscard]] const std::vector<LineAccess>& accesses() const { return accesses_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  [[nodiscard]] std::uint64_t clock() const {
    return now_.limit == 0 ? now_.clock : now_.limit - 1 - countdown_;
  }

  std::unordered_set<std::uint64_t> instructions_;
  std::size_t most_;
  std::vector<LineAccess> accesses_;
  std::uint64_t total_ = 0;
  std::uint32_t steps_ = 0;
  abi::ReturnMark now_{};
  std::uint64_t countdown_ = 0;
  // Of the last block, how many accesses were kept up to each of its instructions.
  const TranslatedBlock* last_ = nullptr;
  std::vector<std::uint32_t> kept_at_;
};

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_LINE_HISTORY_H_
