#include "host/observe/run_trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace clew {
namespace {

bool reads(const RecordedAccess& access) { return access.kind != AccessKind::kWrite; }

enum class AllocatorCall : std::uint8_t {
  kNone,
  kAllocate,
  kCount,
  kAlign,
  kResize,
  kRelease,
  kOther
};

AllocatorCall allocator_call(std::string_view name) {
  if (name == "malloc" || name == "valloc" || name == "pvalloc" || name.starts_with("_Znw") ||
      name.starts_with("_Zna"))
    return AllocatorCall::kAllocate;
  if (name == "calloc") return AllocatorCall::kCount;
  if (name == "aligned_alloc" || name == "memalign") return AllocatorCall::kAlign;
  if (name == "realloc") return AllocatorCall::kResize;
  if (name == "free" || name == "cfree" || name.starts_with("_Zdl") || name.starts_with("_Zda"))
    return AllocatorCall::kRelease;
  if (name == "posix_memalign" || name == "malloc_usable_size" || name == "reallocarray")
    return AllocatorCall::kOther;
  return AllocatorCall::kNone;
}

constexpr std::string_view kPointHook = "__clew_yield_access";

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
  if (too_long_ || steps_.empty()) return;
  cuts_.emplace_back(static_cast<StepIndex>(steps_.size() - 1), address);
}

void RunTrace::returned(const abi::ReturnMark& mark) {
  thread_ = static_cast<std::uint16_t>(mark.thread);
  if (too_long_) return;
  of_points_.insert(mark.countdown);
  of_points_.insert(mark.call_site);
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
  return steps_[step].record + static_cast<std::uint64_t>(marks) * sizeof(abi::ReturnMark) +
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

// Which call each step belongs to. A jump to another function stays in the frame: it returns to where
// that would have.
void RunTrace::find_frames(CodeMap& code) {
  struct Walk {
    FrameIndex frame = kNoFrame;
    StepIndex last = kNoStep;
  };
  std::vector<Walk> walks;
  std::unordered_map<std::uint64_t, bool> binds;
  std::unordered_map<std::uint64_t, std::pair<CodeRange, bool>> functions;  // by a step's address
  const auto function = [&](std::uint64_t address) -> const std::pair<CodeRange, bool>& {
    const auto [entry, added] = functions.try_emplace(address);
    if (added) {
      entry->second.first = code.function(address).value_or(CodeRange{address, address + 1});
      for (const ElfFile::Symbol& symbol : code.symbols(address))
        entry->second.second |= allocator_call(symbol.name) != AllocatorCall::kNone;
    }
    return entry->second;
  };
  positions_.resize(steps_.size());
  for (StepIndex at = 0; at < steps_.size(); ++at) {
    BlockStep& step = steps_[at];
    if (step.thread >= walks.size()) {
      walks.resize(step.thread + 1u);
      threads_.resize(walks.size());
      stack_tops_.resize(walks.size());
    }
    Walk& walk = walks[step.thread];
    const std::uint64_t address = blocks_[step.block].address;
    const auto [known, added] = binds.try_emplace(address);
    if (added) known->second = code.binds(address);
    if (known->second || step.executed == 0) {
      step.hidden = true;
      if (walk.last != kNoStep && blocks_[step.block].call_offset != 0 && step.executed != 0 &&
          code_[steps_[walk.last].block].back().flow == Flow::kJump)
        stubs_after_.try_emplace(walk.last, at);
      continue;
    }
    const auto push = [&] {
      TraceFrame made;
      made.parent = walk.frame;
      made.call = walk.last;
      made.entered = walk.last;
      made.first = at;
      made.entry = address;
      made.thread = step.thread;
      if (walk.last != kNoStep)
        if (const auto registers = call_registers(walk.last)) {
          made.cfa = registers->rsp;
        }
      if (made.cfa == 0) made.cfa = frame_by_push(at);
      stack_tops_[step.thread] = std::max(stack_tops_[step.thread], made.cfa);
      made.hidden =
          function(address).second || (made.parent != kNoFrame && frames_[made.parent].hidden);
      walk.frame = static_cast<FrameIndex>(frames_.size());
      frames_.push_back(made);
    };
    // Back to a frame that is in the function of the address: an exception, a longjmp, the end of a
    // signal handler.
    const auto unwind = [&] {
      const CodeRange& here = function(address).first;
      for (FrameIndex frame = walk.frame; frame != kNoFrame; frame = frames_[frame].parent)
        if (here.has(frames_[frame].entry) ||
            here.begin == function(frames_[frame].entry).first.begin) {
          walk.frame = frame;
          return true;
        }
      return false;
    };
    if (walk.last == kNoStep) {
      push();
    } else {
      const BlockStep& before = steps_[walk.last];
      const Instruction& last = code_[before.block][before.executed - 1u];
      const bool begins = function(address).first.begin == address;
      if (last.is_call()) {
        if (address != last.next() && (begins || !unwind())) push();
      } else if (last.flow == Flow::kReturn) {
        FrameIndex& frame = walk.frame;
        const FrameIndex parent = frame == kNoFrame ? kNoFrame : frames_[frame].parent;
        if (returns_to(frame, address)) {
          frame = parent;
        } else if (!begins && unwind()) {
        } else {
          frame = parent;
          push();
        }
      } else if ((last.flow == Flow::kJump || last.flow == Flow::kIndirectJump) &&
                 returns_to(walk.frame, address)) {
        // What it jumped to was not seen, and has returned for it.
        walk.frame = frames_[walk.frame].parent;
      } else if (begins && function(address).second && !frames_[walk.frame].hidden) {
        // A call of the allocator at a function's end: it returns to that one's caller.
        TraceFrame made = frames_[walk.frame];
        made.entered = walk.last;
        made.first = at;
        made.entry = address;
        made.hidden = true;
        walk.frame = static_cast<FrameIndex>(frames_.size());
        frames_.push_back(made);
      } else if (before.executed < code_[before.block].size() && address != last.next()) {
        // A signal.
        if (begins || !unwind()) push();
      }
    }
    walk.last = at;
    step.frame = walk.frame;
    step.hidden = frames_[walk.frame].hidden;
    if (step.hidden) continue;
    positions_[at] = static_cast<std::uint32_t>(threads_[step.thread].size());
    threads_[step.thread].push_back(at);
  }
}

// Whether the call of the frame comes back to the address.
bool RunTrace::returns_to(FrameIndex frame, std::uint64_t address) const {
  const StepIndex call = frame == kNoFrame ? kNoStep : frames_[frame].call;
  if (call == kNoStep) return false;
  const Instruction& last = code_[steps_[call].block].back();
  return last.is_call() && last.next() == address;
}

// A function that nobody was seen to call usually saves a register first.
std::uint64_t RunTrace::frame_by_push(StepIndex step) const {
  const auto& accesses = block_of(step).accesses;
  if (accesses.empty() || accesses.front().instruction != 0 ||
      accesses.front().kind != AccessKind::kWrite || !code(step).front().copies)
    return 0;
  constexpr std::uint64_t kSavedAndReturn = 16;
  return access_address(step, 0) + kSavedAndReturn;
}

StepIndex RunTrace::visible(StepIndex step) const {
  if (step >= kFromOutside || !steps_[step].hidden) return step;
  FrameIndex frame = steps_[step].frame;
  if (frame == kNoFrame) return kFromOutside;
  while (frames_[frame].parent != kNoFrame && frames_[frames_[frame].parent].hidden)
    frame = frames_[frame].parent;
  return frames_[frame].entered == kNoStep ? kFromOutside : frames_[frame].entered;
}

std::optional<CallRegisters> RunTrace::call_registers(StepIndex step) const {
  const TranslatedBlock& block = block_of(step);
  if (block.call_offset == 0 || steps_[step].executed < block.instructions.size())
    return std::nullopt;
  CallRegisters registers;
  std::memcpy(&registers, bytes_.data() + steps_[step].record + block.call_offset,
              sizeof registers);
  return registers;
}

void RunTrace::find_outside_calls(CodeMap& code) {
  std::unordered_map<std::uint64_t, std::string_view> names;
  for (const auto& list : threads_)
    for (std::size_t i = 0; i < list.size(); ++i) {
      const StepIndex at = list[i];
      const Instruction& call = code_[steps_[at].block].back();
      // At the end of a function it is a jump.
      const auto stub = stubs_after_.find(at);
      const auto registers = call_registers(stub == stubs_after_.end() ? at : stub->second);
      if (!registers) continue;
      const StepIndex next = i + 1 < list.size() ? list[i + 1] : kNoStep;
      // Seen inside: the next step is in a frame that it made, or continues in its own.
      if (next != kNoStep && frames_[steps_[next].frame].entered == at) continue;
      if (!call.is_call() && next != kNoStep && steps_[next].frame == steps_[at].frame) continue;
      const auto [name, added] = names.try_emplace(call.address);
      if (added) name->second = code.called(call);
      OutsideCall made;
      made.step = at;
      made.name = name->second;
      // By a register: what it is given tells what it is.
      if (made.name.empty() && code.is_point(registers->arguments[0])) made.name = kPointHook;
      made.registers = *registers;
      const StepIndex caller = call.is_call() ? at : frames_[steps_[at].frame].call;
      if (next != kNoStep && caller != kNoStep &&
          address(next) == code_[steps_[caller].block].back().next()) {
        made.back = next;
        made.result = call_result(caller).value_or(0);
      }
      outside_calls_.push_back(made);
    }
  std::ranges::sort(outside_calls_, {}, &OutsideCall::step);
}

std::optional<std::uint64_t> RunTrace::call_result(StepIndex step) const {
  const BlockStep& of = steps_[step];
  const auto& list = threads_[of.thread];
  const std::uint64_t back = code_[of.block].back().next();
  for (std::size_t i = positions_[step] + 1u; i < list.size(); ++i) {
    if (steps_[list[i]].frame != of.frame) {
      // The frame is gone without coming back here, or it is one that was called.
      if (list[i] < frames_[steps_[list[i]].frame].first) return std::nullopt;
      continue;
    }
    const std::uint32_t offset = block_of(list[i]).result_offset;
    if (address(list[i]) != back || offset == 0) return std::nullopt;
    return word(list[i], offset);
  }
  return std::nullopt;
}

const OutsideCall* RunTrace::outside_call(StepIndex step) const {
  const auto found = std::ranges::lower_bound(outside_calls_, step, {}, &OutsideCall::step);
  return found != outside_calls_.end() && found->step == step ? &*found : nullptr;
}

void RunTrace::find_allocations() {
  std::unordered_map<std::uint64_t, std::uint32_t> live;
  const auto release = [&](std::uint64_t address, StepIndex at) {
    const auto found = live.find(address);
    if (found == live.end()) return;
    allocations_[found->second].freed = at;
    live.erase(found);
  };
  const auto allocate = [&](std::uint64_t address, std::uint64_t size, StepIndex at) {
    if (address == 0) return;
    const auto number = static_cast<std::uint32_t>(allocations_.size());
    allocations_.push_back({address, size, at, kNoStep});
    allocations_at_.emplace(address, number);
    live[address] = number;
  };
  for (const OutsideCall& call : outside_calls_) {
    const auto& arguments = call.registers.arguments;
    switch (allocator_call(call.name)) {
      case AllocatorCall::kAllocate:
        allocate(call.result, arguments[0], call.step);
        break;
      case AllocatorCall::kCount:
        allocate(call.result, arguments[0] * arguments[1], call.step);
        break;
      case AllocatorCall::kAlign:
        allocate(call.result, arguments[1], call.step);
        break;
      case AllocatorCall::kResize:
        if (call.result != 0) release(arguments[0], call.step);
        allocate(call.result, arguments[1], call.step);
        break;
      case AllocatorCall::kRelease:
        release(arguments[0], call.step);
        break;
      default:
        break;
    }
  }
}

const Allocation* RunTrace::allocation_made(StepIndex step) const {
  const auto found = std::ranges::lower_bound(allocations_, step, {}, &Allocation::made);
  return found != allocations_.end() && found->made == step ? &*found : nullptr;
}

const Allocation* RunTrace::allocation(std::uint64_t address, StepIndex at) const {
  constexpr int kMostLooked = 64;  // allocations that begin before the address
  const Allocation* best = nullptr;
  auto next = allocations_at_.upper_bound(address);
  for (int looked = 0; next != allocations_at_.begin() && looked < kMostLooked; ++looked) {
    --next;
    const Allocation& one = allocations_[next->second];
    if (address - one.address >= std::max<std::uint64_t>(one.size, 1) || one.made > at) continue;
    if (one.freed > at) return &one;  // alive
    if (best == nullptr || one.made > best->made) best = &one;
  }
  return best;
}

}  // namespace clew
