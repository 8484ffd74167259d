#include "host/observe/run_trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace clew {
namespace {

bool reads(const RecordedAccess& access) { return access.kind != AccessKind::kWrite; }

// For every byte that was written: by which step, and what.
class Shadow {
 public:
  void write(std::uint64_t address, std::uint64_t size, StepIndex step, const std::uint8_t* value) {
    for (std::uint64_t i = 0; i < size; ++i) {
      Page* found = page_of(address + i);
      if (found == nullptr) return;
      Page& page = *found;
      const std::size_t at = (address + i) % kPage;
      page.writer[at] = step + 1;
      page.known[at] = value != nullptr;
      if (value != nullptr) page.value[at] = value[i];
    }
  }

  // The newest writer of the bytes.
  StepIndex read(std::uint64_t address, std::uint64_t size, const std::uint8_t* value) {
    std::uint32_t newest = 0;
    bool foreign = false;
    for (std::uint64_t i = 0; i < size; ++i) {
      const Page* page = find(address + i);
      if (page == nullptr) {
        foreign |= pages_.size() >= kMostPages;
        continue;
      }
      const std::size_t at = (address + i) % kPage;
      newest = std::max(newest, page->writer[at]);
      foreign |= value != nullptr && page->writer[at] != 0 && page->known[at] &&
                 page->value[at] != value[i];
    }
    if (foreign) return RunTrace::kFromOutside;
    return newest == 0 ? RunTrace::kFromStart : newest - 1;
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  // 512 MB of the program's memory, which take 3 GB here. Who wrote the rest is not known.
  static constexpr std::size_t kMostPages = std::size_t{1} << 17;
  struct Page {
    std::array<std::uint32_t, kPage> writer{};
    std::array<std::uint8_t, kPage> value{};
    std::array<bool, kPage> known{};
  };

  Page* find(std::uint64_t address) {
    const std::uint64_t number = address / kPage;
    if (number == last_number_ && last_ != nullptr) return last_;
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    last_number_ = number;
    return last_ = found->second.get();
  }
  // Null: there are too many.
  Page* page_of(std::uint64_t address) {
    if (Page* page = find(address)) return page;
    if (pages_.size() >= kMostPages) return nullptr;
    auto& made = pages_[address / kPage];
    made = std::make_unique<Page>();
    return made.get();
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = 0;
  Page* last_ = nullptr;
};

}  // namespace

void RunTrace::block(const BlockRun& run) {
  if (too_long_) return;
  if (!begun_) {
    skipped_bytes_ += run.record.size();
    return;
  }
  if (bytes_.size() + run.record.size() > most_bytes_ || steps_.size() >= UINT32_MAX - 16) {
    too_long_ = true;
    return;
  }
  std::uint32_t number;
  std::memcpy(&number, run.record.data(), sizeof number);
  BlockStep step;
  step.record = bytes_.size();
  step.block = number;
  step.thread = thread_;
  step.executed = static_cast<std::uint8_t>(run.block.instructions.size());
  steps_.push_back(step);
  bytes_.insert(bytes_.end(), run.record.begin(), run.record.end());
  instruction_count_ += step.executed;
}

void RunTrace::cut(std::uint64_t address) {
  if (!begun_) skipped_bytes_ += sizeof(abi::CutMark);
  if (too_long_ || steps_.empty()) return;
  cuts_.emplace_back(static_cast<StepIndex>(steps_.size() - 1), address);
}

void RunTrace::returned(const abi::ReturnMark& mark) {
  thread_ = static_cast<std::uint16_t>(mark.thread);
  if (too_long_) return;
  of_points_.insert(mark.countdown);
  of_points_.insert(mark.call_site);
  begun_ = mark.clock >= begins_at_;
  if (!begun_) {
    skipped_bytes_ += sizeof mark;
    return;
  }
  marks_.push_back({static_cast<StepIndex>(steps_.size()), mark.clock, mark.limit, mark.countdown});
}

std::uint64_t RunTrace::word(StepIndex step, std::uint32_t offset) const {
  std::uint64_t value;
  std::memcpy(&value, bytes_.data() + steps_[step].record + offset, sizeof value);
  return value;
}

std::uint64_t RunTrace::clock(StepIndex step) const {
  const auto after = std::ranges::upper_bound(marks_, step, {}, &Mark::step);
  return after == marks_.begin() ? 0 : std::prev(after)->clock;
}

std::uint64_t RunTrace::stream_offset(StepIndex step) const {
  using Entry = std::pair<StepIndex, std::uint64_t>;
  const auto marks = std::ranges::upper_bound(marks_, step, {}, &Mark::step) - marks_.begin();
  const auto cuts = std::ranges::lower_bound(cuts_, step, {}, &Entry::first) - cuts_.begin();
  return skipped_bytes_ + steps_[step].record +
         static_cast<std::uint64_t>(marks) * sizeof(abi::ReturnMark) +
         static_cast<std::uint64_t>(cuts) * sizeof(abi::CutMark);
}

std::uint64_t RunTrace::access_value(StepIndex step, std::uint32_t index) const {
  const RecordedAccess& of = access(step, index);
  const std::uint64_t value = word(step, of.offset + 8);
  return of.size >= 8 ? value : value & ((std::uint64_t{1} << (8 * of.size)) - 1);
}

std::pair<std::uint32_t, std::uint32_t> RunTrace::accesses(Instance at) const {
  const auto& all = block_of(at.step).accesses;
  const auto found =
      std::ranges::equal_range(all, at.instruction, {}, &RecordedAccess::instruction);
  return {static_cast<std::uint32_t>(found.begin() - all.begin()),
          static_cast<std::uint32_t>(found.end() - all.begin())};
}

StepIndex RunTrace::source(StepIndex step, std::uint32_t access) const {
  return sources_[steps_[step].reads + reads_before_[steps_[step].block][access]];
}

Instance RunTrace::writer(StepIndex step, std::uint64_t address, std::uint32_t size) const {
  const auto& all = block_of(step).accesses;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (all[i].kind == AccessKind::kRead || all[i].instruction >= steps_[step].executed) continue;
    const std::uint64_t at = access_address(step, static_cast<std::uint32_t>(i));
    if (all[i].kind == AccessKind::kString || (at < address + size && address < at + all[i].size))
      return {step, all[i].instruction};
  }
  return {step, steps_[step].executed - 1u};
}

void RunTrace::finish(std::deque<TranslatedBlock> blocks, CodeMap& code) {
  blocks_ = std::move(blocks);
  code_.resize(blocks_.size());
  reads_before_.resize(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const TranslatedBlock& block = blocks_[i];
    const std::span<const std::uint8_t> bytes = block.code;
    for (const std::uint32_t offset : block.instructions) {
      Instruction one;
      if (!decode(block.address + offset, bytes.subspan(offset), one)) break;
      code_[i].push_back(one);
    }
    std::uint32_t count = 0;
    for (const RecordedAccess& access : block.accesses) {
      reads_before_[i].push_back(count);
      count += reads(access);
    }
  }
  for (const auto& [step, address] : cuts_) {
    const auto& all = code_[steps_[step].block];
    const auto found = std::ranges::find(all, address, &Instruction::address);
    if (found != all.end()) steps_[step].executed = static_cast<std::uint8_t>(found - all.begin());
  }
  if (counts_fault_) count_fault();
  find_sources();
  fill_in_operand();
  find_frames(code);
  find_outside_calls(code);
  find_allocations();
}

void RunTrace::count_fault() {
  if (cuts_.empty() || cuts_.back().first + 1u != steps_.size()) return;
  BlockStep& step = steps_.back();
  if (step.executed >= code_[step.block].size()) return;
  const auto [first, end] = accesses({cuts_.back().first, step.executed});
  for (std::uint32_t i = first; i < end; ++i)
    if (blocks_[step.block].accesses[i].kind != AccessKind::kRead) return;
  faulted_ = cuts_.back().first;
  ++step.executed;
}

// Values are written down when an instruction is done, and this one never was: it read what was written
// last. What nobody has written since the start is 0, or it would not have faulted.
void RunTrace::fill_in_operand() {
  if (faulted_ == kNoStep) return;
  const auto [first, end] = accesses(fault());
  for (std::uint32_t i = first; i < end; ++i) {
    const RecordedAccess& read = access(faulted_, i);
    if (!read.has_value || read.size > 8) continue;
    const std::uint64_t address = access_address(faulted_, i);
    std::uint64_t value = 0;
    const StepIndex from = source(faulted_, i);
    if (from < kFromOutside) {
      const auto [begin, behind] = accesses(writer(from, address, read.size));
      for (std::uint32_t k = begin; k < behind; ++k)
        if (access(from, k).has_value && access_address(from, k) == address)
          value = access_value(from, k);
    }
    std::memcpy(bytes_.data() + steps_[faulted_].record + read.offset + 8, &value, sizeof value);
  }
}

void RunTrace::find_sources() {
  Shadow shadow;
  std::uint64_t string_bytes = std::uint64_t{1}
                               << 34;  // that are looked at; a file may say anything
  std::uint8_t value[64];
  for (StepIndex at = 0; at < steps_.size(); ++at) {
    BlockStep& step = steps_[at];
    step.reads = static_cast<std::uint32_t>(sources_.size());
    const auto& all = blocks_[step.block].accesses;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const RecordedAccess& access = all[i];
      const bool executed = access.instruction < step.executed;
      const std::uint64_t address = word(at, access.offset);
      const std::uint8_t* known = nullptr;
      const bool faulted = at == faulted_ && access.instruction + 1u == step.executed;
      if (access.has_value && !faulted) {
        std::memcpy(value, bytes_.data() + step.record + access.offset + 8, access.size);
        known = value;
      }
      if (access.kind == AccessKind::kString) {
        const StringUse& use = code_[step.block][access.instruction].string;
        const std::uint64_t from = word(at, access.offset + 8);
        const std::uint64_t size = word(at, access.offset + 16) * use.element;
        if (!executed || size > std::min(string_bytes, std::uint64_t{1} << 32)) {
          sources_.push_back(kFromOutside);
          continue;
        }
        string_bytes -= size;
        sources_.push_back(use.reads ? shadow.read(from, size, nullptr)
                                     : shadow.read(address, use.reads_second ? size : 0, nullptr));
        if (use.writes) shadow.write(address, size, at, nullptr);
        continue;
      }
      if (reads(access))
        sources_.push_back(executed
                               ? shadow.read(address, access.size,
                                             access.kind == AccessKind::kRead ? known : nullptr)
                               : kFromOutside);
      if (executed && access.kind != AccessKind::kRead)
        shadow.write(address, access.size, at, known);
    }
  }
}

}  // namespace clew
