// A traced run as a whole, in memory: every block that ran, in which call, and for every read the step
// that wrote what was read. What dependences, alignment and stories are made from.
//
// Steps of the dynamic linker and of its stubs are hidden, and so is what the allocator does inside:
// a call of malloc is one step, which returns fresh memory.
#ifndef CLEW_HOST_OBSERVE_RUN_TRACE_H_
#define CLEW_HOST_OBSERVE_RUN_TRACE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/model/code_map.h"
#include "host/model/instruction.h"
#include "host/translate/code_trace.h"

namespace clew {

using StepIndex = std::uint32_t;
using FrameIndex = std::uint32_t;
inline constexpr StepIndex kNoStep = UINT32_MAX;
inline constexpr FrameIndex kNoFrame = UINT32_MAX;

// One execution of a block.
struct BlockStep {
  std::uint64_t record = 0;     // where its record begins
  std::uint32_t block = 0;      // number of the block
  FrameIndex frame = kNoFrame;  // hidden steps of the linker have none
  std::uint32_t reads = 0;      // its first read among all
  std::uint16_t thread = 0;
  std::uint8_t executed = 0;  // instructions
  bool hidden = false;
};

// One execution of a function.
struct TraceFrame {
  FrameIndex parent = kNoFrame;
  StepIndex call = kNoStep;  // the step that ends with the call; kNoStep: a thread begins with it
  StepIndex entered = kNoStep;  // the step that led to it: the call, or a jump at a function's end
  StepIndex first = kNoStep;
  std::uint64_t entry = 0;
  std::uint64_t cfa = 0;  // the stack pointer before the call; 0: not known
  std::uint16_t thread = 0;
  bool hidden = false;
};

// One instruction of one step.
struct Instance {
  StepIndex step = kNoStep;
  std::uint32_t instruction = 0;

  bool operator==(const Instance&) const = default;
  auto operator<=>(const Instance&) const = default;
  [[nodiscard]] bool valid() const { return step != kNoStep; }
};

// A call of something that is not seen inside: the runtime, the allocator.
struct OutsideCall {
  StepIndex step = kNoStep;
  std::string_view name;
  CallRegisters registers;
  StepIndex back = kNoStep;  // the step that begins when it has returned; kNoStep: it never does
  std::uint64_t result = 0;
};

// Of a function: it ends the life of memory.
[[nodiscard]] bool releases_memory(std::string_view name);

struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  StepIndex made = kNoStep;   // the step of the call
  StepIndex freed = kNoStep;  // likewise
};

class RunTrace final : public CodeTraceListener {
 public:
  // A trace that needs more is not kept as a whole.
  explicit RunTrace(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  // Before the run: what comes before this clock is not kept. Threads begin where they are then, and memory is as
  // it is then.
  void begin_at(std::uint64_t clock) {
    begins_at_ = clock;
    begun_ = clock == 0;
  }
  [[nodiscard]] std::uint64_t begins_at() const { return begins_at_; }

  void block(const BlockRun& run) override;
  void cut(std::uint64_t address) override;
  void returned(const abi::ReturnMark& mark) override;

  // Before finish(): the run ended with an instruction that had read its operand but could not compute
  // with it, a division by zero. It counts as executed.
  void ended_by_computing() { counts_fault_ = true; }
  // That instruction; not valid: there is none.
  [[nodiscard]] Instance fault() const {
    return faulted_ == kNoStep ? Instance{} : Instance{faulted_, steps_[faulted_].executed - 1u};
  }

  // The run has ended: finds calls, allocations and sources. `blocks` are those that ran.
  void finish(std::deque<TranslatedBlock> blocks, CodeMap& code);

  [[nodiscard]] bool too_long() const { return too_long_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::uint64_t instructions() const { return instruction_count_; }
  [[nodiscard]] const std::vector<BlockStep>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<TraceFrame>& frames() const { return frames_; }
  // The visible steps of a thread.
  [[nodiscard]] const std::vector<StepIndex>& thread(std::size_t index) const {
    return threads_[index];
  }
  [[nodiscard]] std::size_t thread_count() const { return threads_.size(); }
  // Where a visible step is in its thread's list.
  [[nodiscard]] std::uint32_t position(StepIndex step) const { return positions_[step]; }

  [[nodiscard]] const std::vector<Instruction>& code(StepIndex step) const {
    return code_[steps_[step].block];
  }
  [[nodiscard]] const TranslatedBlock& block_of(StepIndex step) const {
    return blocks_[steps_[step].block];
  }
  [[nodiscard]] const Instruction& instruction(Instance at) const {
    return code(at.step)[at.instruction];
  }
  [[nodiscard]] std::uint64_t address(StepIndex step) const { return block_of(step).address; }
  // Points passed before it.
  [[nodiscard]] std::uint64_t clock(StepIndex step) const;

  // The marks that the runtime has made, each with the first step behind it.
  struct Mark {
    StepIndex step = 0;
    std::uint64_t clock = 0;
    std::uint64_t limit = 0;      // abi::ReturnMark
    std::uint64_t countdown = 0;  // likewise
  };
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

  // Where its record begins in all that the run has written down.
  [[nodiscard]] std::uint64_t stream_offset(StepIndex step) const;

  // The accesses of an instruction, as indices of its block's.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> accesses(Instance at) const;
  [[nodiscard]] const RecordedAccess& access(StepIndex step, std::uint32_t index) const {
    return block_of(step).accesses[index];
  }
  [[nodiscard]] std::uint64_t access_address(StepIndex step, std::uint32_t index) const {
    return word(step, access(step, index).offset);
  }
  // All bytes. REQUIRES: it has a value.
  [[nodiscard]] std::span<const std::uint8_t> access_bytes(StepIndex step,
                                                           std::uint32_t index) const {
    const RecordedAccess& of = access(step, index);
    return std::span(bytes_).subspan(steps_[step].record + of.offset + 8, of.size);
  }
  // Up to eight bytes. REQUIRES: it has a value.
  [[nodiscard]] std::uint64_t access_value(StepIndex step, std::uint32_t index) const;

  // Who wrote what the access read. kFromStart: nobody since the start; kFromOutside: nobody who was
  // seen.
  static constexpr StepIndex kFromStart = UINT32_MAX - 1;
  static constexpr StepIndex kFromOutside = UINT32_MAX - 2;
  [[nodiscard]] StepIndex source(StepIndex step, std::uint32_t access) const;
  // The last instruction of the step that writes a byte of the memory.
  [[nodiscard]] Instance writer(StepIndex step, std::uint64_t address, std::uint32_t size) const;

  // The step's call, if it ends with one that is not seen inside.
  [[nodiscard]] const OutsideCall* outside_call(StepIndex step) const;
  [[nodiscard]] const std::vector<OutsideCall>& outside_calls() const { return outside_calls_; }
  [[nodiscard]] std::optional<CallRegisters> call_registers(StepIndex step) const;
  // rax when the call that ends the step has returned; nothing: not known.
  [[nodiscard]] std::optional<std::uint64_t> call_result(StepIndex step) const;
  // A hidden step as what is seen of it: the call that leads to it.
  [[nodiscard]] StepIndex visible(StepIndex step) const;

  // The allocation that has the address at the time of the step, or had it last.
  [[nodiscard]] const Allocation* allocation(std::uint64_t address, StepIndex at) const;
  // Of a call that releases memory: the call before it that did the same, or that allocated it. kNoStep: not seen.
  [[nodiscard]] StepIndex released_before(const OutsideCall& call) const;
  // The allocation that the step's call made; null: none.
  [[nodiscard]] const Allocation* allocation_made(StepIndex step) const;
  // The memory of the thread's stack that was used: the highest address of a frame.
  [[nodiscard]] std::uint64_t stack_top(std::size_t thread) const { return stack_tops_[thread]; }

  // The addresses that the pass's own code uses, which are no business of the program's.
  [[nodiscard]] bool is_of_points(std::uint64_t address) const {
    return of_points_.contains(address);
  }

 private:
  [[nodiscard]] std::uint64_t word(StepIndex step, std::uint32_t offset) const;
  void find_frames(CodeMap& code);
  [[nodiscard]] StepIndex returned(const std::vector<StepIndex>& list, std::size_t call) const;
  [[nodiscard]] bool returns_to(FrameIndex frame, std::uint64_t address) const;
  [[nodiscard]] std::uint64_t frame_by_push(StepIndex step) const;
  void count_fault();
  void fill_in_operand();
  void find_sources();
  void find_outside_calls(CodeMap& code);
  [[nodiscard]] std::string_view called_by_register(CodeMap& code,
                                                    const std::vector<StepIndex>& list,
                                                    std::size_t step) const;
  void find_allocations();

  std::uint64_t most_bytes_;
  bool too_long_ = false;
  std::uint64_t begins_at_ = 0;
  bool begun_ = true;
  std::uint64_t skipped_bytes_ = 0;  // of what is not kept, marks included
  bool counts_fault_ = false;
  StepIndex faulted_ = kNoStep;  // its last instruction could not compute
  std::uint16_t thread_ = 0;
  std::unordered_set<std::uint64_t> of_points_;  // of each thread
  std::uint64_t instruction_count_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::vector<BlockStep> steps_;
  std::vector<Mark> marks_;
  std::vector<std::pair<StepIndex, std::uint64_t>> cuts_;  // the step, what was not executed of it
  std::deque<TranslatedBlock> blocks_;
  std::vector<std::vector<Instruction>> code_;            // of each block
  std::vector<std::vector<std::uint32_t>> reads_before_;  // of each access of each block
  std::vector<TraceFrame> frames_;
  std::vector<std::vector<StepIndex>> threads_;
  std::vector<std::uint32_t> positions_;
  std::vector<StepIndex> sources_;
  std::vector<OutsideCall> outside_calls_;  // by their steps
  std::vector<Allocation> allocations_;
  std::multimap<std::uint64_t, std::uint32_t> allocations_at_;
  std::vector<std::uint64_t> stack_tops_;
  // Steps that jump to a stub at the end of a function, with the step of that, which has the registers.
  std::unordered_map<StepIndex, StepIndex> stubs_after_;
};

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_RUN_TRACE_H_
