#include "host/observe/line_history.h"

namespace clew {
namespace {

// Whether the path is `end`, or ends with it at a slash.
bool is_or_ends_with(const std::string& path, const std::string& end) {
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
}

}  // namespace

std::unordered_set<std::uint64_t> instructions_of(const SourceLine& line,
                                                  const std::deque<TranslatedBlock>& blocks,
                                                  Symbolizer& symbols) {
  std::unordered_set<std::uint64_t> found;
  for (const TranslatedBlock& block : blocks)
    for (const std::uint32_t offset : block.instructions) {
      const std::uint64_t address = block.address + offset;
      const auto frames = symbols.frames({address});
      const SourceFrame* frame = Symbolizer::user_frame(frames);
      if (frame != nullptr && frame->line == line.line && is_or_ends_with(frame->file, line.file))
        found.insert(address);
    }
  return found;
}

void LineHistory::block(const BlockRun& run) {
  last_ = &run.block;
  kept_at_.clear();
  for (const RecordedAccess& access : run.block.accesses) {
    const std::uint64_t address = run.address(access);
    if (address == now_.countdown && access.has_value) countdown_ = run.value(access);
    const std::uint64_t instruction =
        run.block.address + run.block.instructions[access.instruction];
    if (address == now_.countdown || address == now_.call_site ||
        !instructions_.contains(instruction))
      continue;
    ++total_;
    kept_at_.push_back(access.instruction);
    if (total_ > most_) continue;
    accesses_.push_back({.clock = clock(),
                         .thread = now_.thread,
                         .kind = access.kind,
                         .address = address,
                         .size = access.size,
                         .has_value = access.has_value,
                         .value = access.has_value ? run.value(access) : 0,
                         .step = steps_});
  }
  ++steps_;
}

void LineHistory::cut(std::uint64_t address) {
  if (last_ == nullptr) return;
  const std::uint64_t offset = address - last_->address;
  while (!kept_at_.empty() && last_->instructions[kept_at_.back()] >= offset) {
    kept_at_.pop_back();
    if (total_ <= most_) accesses_.pop_back();
    --total_;
  }
}

void LineHistory::returned(const abi::ReturnMark& mark) {
  now_ = mark;
  countdown_ = mark.limit - 1 - mark.clock;
}

}  // namespace clew
