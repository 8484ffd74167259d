// Of a traced run: its calls, those that are not seen inside, and what was allocated.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "host/observe/run_trace.h"

namespace clew {
namespace {

// libc's part of them is seen, what happens in between is not.
bool sends_or_awaits_signal(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "kill",       "pthread_kill", "sigqueue",    "pthread_sigqueue", "pause",
      "sigsuspend", "sigwait",      "sigwaitinfo", "sigtimedwait"};
  return std::ranges::find(kNames, name) != kNames.end();
}

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

}  // namespace

bool releases_memory(std::string_view name) {
  return name == "realloc" || allocator_call(name) == AllocatorCall::kRelease;
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
      // What the function itself does comes first: between the call and its beginning there may be code
      // that is not traced, as the runtime's between libc and main.
      if (function(address).first.begin == address) made.cfa = frame_by_push(at);
      if (made.cfa == 0 && walk.last != kNoStep)
        if (const auto registers = call_registers(walk.last)) made.cfa = registers->rsp;
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
      } else if (last.flow == Flow::kIndirectJump && !begins &&
                 !function(blocks_[before.block].address).first.has(address)) {
        // Into the middle of another function: the unwinder, or a longjmp, has come to the one that handles it.
        unwind();
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

// The step of the thread with which the call of one of its steps has come back.
StepIndex RunTrace::returned(const std::vector<StepIndex>& list, std::size_t call) const {
  const BlockStep& of = steps_[list[call]];
  const std::uint64_t back = code_[of.block].back().next();
  for (std::size_t i = call + 1; i < list.size(); ++i)
    if (steps_[list[i]].frame == of.frame) return address(list[i]) == back ? list[i] : kNoStep;
  return kNoStep;
}

// What the dynamic linker has put into the slot from which the register was loaded by which a step of the thread calls: compilers keep the
// address of a function that is called several times. Empty: not seen.
std::string_view RunTrace::called_by_register(CodeMap& code, const std::vector<StepIndex>& list,
                                              std::size_t step) const {
  constexpr std::size_t kMostSteps = 2'000;  // of a loop that was entered long before
  const BlockStep& of = steps_[list[step]];
  const Instruction& call = code_[of.block].back();
  const RegisterSet used = call.reads & ~bit_of(kRsp);
  if (call.flow != Flow::kIndirectCall || call.slot != 0 || call.address_reads != 0 ||
      std::popcount(used) != 1)
    return "";
  std::uint32_t end = of.executed - 1u;
  for (std::size_t k = step;; end = steps_[list[--k]].executed) {
    if (steps_[list[k]].frame == of.frame)
      for (std::uint32_t i = end; i-- > 0;) {
        const Instruction& one = code_[steps_[list[k]].block][i];
        if ((one.writes & used) != 0) return one.copies ? code.called(one) : "";
      }
    if (k == 0 || k + kMostSteps < step) return "";
  }
}

namespace {

// What a thread does there was not called by the program: the runtime writes out its buffers, in the thread that has come to the end of the run last.
bool in_middle(CodeMap& code, std::uint64_t entry) {
  const auto function = code.function(entry);
  return function && function->begin != entry;
}

}  // namespace

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
      const auto [name, added] = names.try_emplace(call.address);
      if (added) name->second = code.called(call);
      if (added && name->second.empty()) name->second = called_by_register(code, list, i);
      // Seen inside: the next step is in a frame that it made, or continues in its own.
      const bool inside =
          next != kNoStep && ((frames_[steps_[next].frame].entered == at &&
                               !in_middle(code, frames_[steps_[next].frame].entry)) ||
                              (!call.is_call() && steps_[next].frame == steps_[at].frame));
      if (inside && !sends_or_awaits_signal(name->second)) continue;
      // A jump within a function, behind which nothing else was seen of the thread.
      const bool is_jump = !call.is_call() && call.target != 0 && stub == stubs_after_.end();
      if (is_jump && allocator_call(name->second) == AllocatorCall::kNone) continue;
      OutsideCall made;
      made.step = at;
      made.name = name->second;
      // By a register whose load was not seen: what it is given tells what it is.
      if (made.name.empty() && code.is_point(registers->arguments[0])) made.name = kPointHook;
      made.registers = *registers;
      const StepIndex caller = call.is_call() ? at : frames_[steps_[at].frame].call;
      if (next != kNoStep && caller != kNoStep &&
          address(next) == code_[steps_[caller].block].back().next()) {
        made.back = next;
        made.result = call_result(caller).value_or(0);
      } else if (inside && call.is_call()) {
        made.back = returned(list, i);
        made.result = call_result(at).value_or(0);
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

StepIndex RunTrace::released_before(const OutsideCall& call) const {
  const Allocation* memory = allocation(call.registers.arguments[0], call.step);
  if (memory == nullptr || memory->address != call.registers.arguments[0]) return kNoStep;
  return memory->freed < call.step ? memory->freed : memory->made;
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
