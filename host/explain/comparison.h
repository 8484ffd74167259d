// Two traced runs of one program, compared: which instances differ (Weeratunge et al. 2010,
// definition 2), on machine instructions. Source lines are made of them afterwards.
//
// Values are equal if they mean the same: pointers, if they point to the same place of the same
// allocation, or of the same thread's stack, whatever the addresses.
#ifndef CLEW_HOST_EXPLAIN_COMPARISON_H_
#define CLEW_HOST_EXPLAIN_COMPARISON_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/explain/alignment.h"
#include "host/explain/dependences.h"
#include "host/explain/dual_slice.h"

namespace clew {

inline NodeId node_of(Instance at) { return NodeId{at.step} << 8 | at.instruction; }
inline Instance instance_of(NodeId node) {
  return {static_cast<StepIndex>(node >> 8), static_cast<std::uint32_t>(node & 0xff)};
}
// Not executed by an instruction that was seen: memory as it was at the start, or as something
// outside left it.
inline bool is_unseen(NodeId node) { return instance_of(node).step >= RunTrace::kFromOutside; }

// The thread whose stack the address lies in.
[[nodiscard]] std::optional<std::size_t> stack_of(const RunTrace& run, std::uint64_t address);

class Comparison final : public TwoRuns {
 public:
  Comparison(const Dependences& failing, const Dependences& passing, const Alignment& alignment);

  Difference difference(WhichRun side, NodeId node) override;
  std::vector<NodeDependence> dependences(WhichRun side, NodeId node) override;
  NodeId counterpart(WhichRun side, NodeId node) override;

  [[nodiscard]] const Dependences& run(WhichRun side) const { return *runs_[side]; }
  [[nodiscard]] const RunTrace& trace(WhichRun side) const { return runs_[side]->run(); }
  [[nodiscard]] const Alignment& alignment() const { return alignment_; }

  // Whether both mean the same, each at the time of a step of its run.
  [[nodiscard]] bool same_value(std::uint64_t failing, StepIndex at_failing, std::uint64_t passing,
                                StepIndex at_passing, std::uint32_t size) const;

  // Whether an instance of a task that both runs do takes something from outside of it: from the pool's code, which
  // is another thread's in each.
  [[nodiscard]] bool comes_from_outside(WhichRun side, Instance at, Instance from) const;
  // Of an argument register of such a task: whether both are given the same.
  [[nodiscard]] bool same_argument(Instance failing, Instance passing, int reg) const;

  // What an instance makes: the value that it stores or loads, or what a call returns. Nothing: it is
  // in no memory.
  struct Value {
    std::uint64_t value = 0;
    std::uint32_t size = 0;
    std::uint64_t address = 0;  // of the memory; 0: a call's result
  };
  [[nodiscard]] std::optional<Value> value(WhichRun side, NodeId node) const;
  // Of a dependence's use.
  static DependenceKind kind_of(std::uint64_t use) {
    return static_cast<DependenceKind>(use >> 32);
  }

 private:
  bool same_words(Instance failing, std::uint32_t i, Instance passing, std::uint32_t j) const;
  // kNotYet: it is decided by instances of the failing run of which `missing` is not looked at yet.
  enum class Verdict : std::uint8_t { kSame, kDifferent, kNotYet };
  std::optional<bool> differs_in_memory(Instance failing, Instance passing) const;
  Verdict compare(Instance failing, Instance passing, NodeId& missing);
  // What was in the memory of an update before it, if it was seen. An access as {step, access of the block}.
  std::optional<std::uint64_t> value_before(WhichRun side, Instance access) const;
  bool uses_registers(Instance at) const;
  bool same_before(Instance failing, Instance passing, std::uint32_t size) const;
  // Nothing: `missing` comes first.
  std::optional<Difference> find_difference(WhichRun side, NodeId node, NodeId& missing);

  // What is known of each instance of a run: two bits by the number of its instruction.
  class Known {
   public:
    explicit Known(const RunTrace& run);
    [[nodiscard]] std::optional<Difference> get(NodeId node) const;
    void set(NodeId node, Difference difference);

   private:
    [[nodiscard]] std::uint64_t number(NodeId node) const;
    std::vector<std::uint32_t> first_;  // instruction of each step
    std::vector<std::uint8_t> bits_;
  };

  std::array<const Dependences*, 2> runs_;
  const Alignment& alignment_;
  std::array<Known, 2> differences_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_COMPARISON_H_
