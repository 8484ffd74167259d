// Which branch or call decides whether an instance happens. The last branch that it depends on may lie a whole
// loop back: all are found in one pass over the run, as Xin and Zhang 2007 do it online.
#ifndef CLEW_HOST_EXPLAIN_CONTROL_DEPENDENCES_H_
#define CLEW_HOST_EXPLAIN_CONTROL_DEPENDENCES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "host/model/flow_graphs.h"
#include "host/observe/run_trace.h"

namespace clew {

class ControlDependences {
 public:
  ControlDependences(const RunTrace& run, FlowGraphs& graphs);

  // The step that ends with the branch, in the same call; kNoStep: none decides.
  [[nodiscard]] StepIndex branch(Instance at) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // What a block of the run has of the flow graph's blocks.
  struct Part {
    std::uint32_t begin = 0;                 // the first instruction
    std::vector<std::uint32_t> controllers;  // numbers of branches
  };
  struct BlockFlow {
    bool known = false;
    std::uint32_t branch = kNone;  // that it ends with, by its number; kNone: none that decides
    std::vector<Part> parts;       // only those that something decides about
  };
  // The last execution of a branch in each call that the thread is in.
  struct Executed {
    FrameIndex frame = kNoFrame;
    StepIndex step = kNoStep;
  };
  using Latest = std::vector<std::vector<Executed>>;  // by the branch's number

  void find(const RunTrace& run, StepIndex at, FlowGraphs& graphs, BlockFlow& flow);
  std::uint32_t number_of(std::uint64_t branch);
  [[nodiscard]] StepIndex latest(Latest& latest, const Part& part, FrameIndex frame) const;

  const RunTrace& run_;
  std::vector<BlockFlow> blocks_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // of branches, by their addresses
  // Of each step: of a block with one part the branch; of one with several where they begin in more_.
  std::vector<std::uint32_t> found_;
  std::vector<StepIndex> more_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_CONTROL_DEPENDENCES_H_
