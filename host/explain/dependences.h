// What an instance of a run depends on: the instances that made the registers and the memory that it
// uses, and the branch or the call that made it happen.
#ifndef CLEW_HOST_EXPLAIN_DEPENDENCES_H_
#define CLEW_HOST_EXPLAIN_DEPENDENCES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/explain/control_dependences.h"
#include "host/explain/register_definitions.h"
#include "host/model/flow_graphs.h"
#include "host/observe/run_trace.h"

namespace clew {

inline constexpr std::uint32_t kReleasedSlot = 99;

enum class DependenceKind : std::uint8_t { kRegister, kMemory, kAddress, kControl };

struct Dependence {
  DependenceKind kind = DependenceKind::kRegister;
  std::uint32_t slot = 0;  // the register, or the access of the block: the same use in another run
                           // kReleasedSlot: whether the memory that a call releases is there
  Instance on;             // its step may be RunTrace::kFromStart or kFromOutside
};

class Dependences {
 public:
  // `threads` are the ids of the run's threads ("T0.2").
  Dependences(const RunTrace& run, std::vector<std::string> threads, FlowGraphs& graphs);

  [[nodiscard]] std::vector<Dependence> of(Instance at) const;
  // The branch or the call that decides whether the instance happens; not valid: it always does.
  [[nodiscard]] Instance control(Instance at) const;
  // The instance that made what the register holds before `at`.
  [[nodiscard]] Instance definition(Instance at, int reg) const;
  // The instance that made what the access of the step reads.
  [[nodiscard]] Instance source(StepIndex step, std::uint32_t access) const;
  // The call that created the thread; not valid: none, or not seen.
  [[nodiscard]] Instance creation(std::uint16_t thread) const;

  [[nodiscard]] const RunTrace& run() const { return run_; }
  [[nodiscard]] const std::vector<std::string>& threads() const { return threads_; }
  [[nodiscard]] FlowGraphs& graphs() const { return graphs_; }

 private:
  const RunTrace& run_;
  std::vector<std::string> threads_;
  FlowGraphs& graphs_;
  std::vector<Instance> creations_;
  // Made when they are first asked for: many comparisons come to nothing that needs them.
  mutable std::unique_ptr<RegisterDefinitions> definitions_;
  mutable std::unique_ptr<ControlDependences> controls_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_DEPENDENCES_H_
