// Which instance made what a register holds. A value may stay in a register for a whole run: what a walk back
// would find is written down every few steps on the way, so that no walk is long.
#ifndef CLEW_HOST_EXPLAIN_REGISTER_DEFINITIONS_H_
#define CLEW_HOST_EXPLAIN_REGISTER_DEFINITIONS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "host/observe/run_trace.h"

namespace clew {

class RegisterDefinitions {
 public:
  explicit RegisterDefinitions(const RunTrace& run);

  // The instance that made what the register holds before `at`; not valid: nothing in the thread did. Functions
  // give back the preserved ones as they were; a call that is not seen inside makes all others.
  [[nodiscard]] Instance before(Instance at, int reg) const;

 private:
  static constexpr int kPreservedCount = 6;
  using Preserved = std::array<Instance, kPreservedCount>;
  using All = std::array<Instance, kRegisterSetSize>;  // the preserved ones are not used
  struct PreservedAt {
    StepIndex step = 0;
    Preserved before;
  };
  struct ThreadWalk;

  static int preserved_number(int reg);
  void walk(ThreadWalk& thread, StepIndex at, bool calls_outside);
  void note_preserved(ThreadWalk& thread, StepIndex at);
  [[nodiscard]] Instance find_preserved(Instance at, int reg) const;
  [[nodiscard]] Instance find_other(Instance at, int reg) const;
  // In the step, before the instruction; not valid: nothing there.
  [[nodiscard]] Instance in_step(StepIndex step, std::uint32_t end, RegisterSet wanted) const;

  const RunTrace& run_;
  std::vector<RegisterSet> writes_;     // of each block, by its number
  std::vector<std::vector<All>> all_;   // of each thread, every kApart steps
  std::vector<PreservedAt> preserved_;  // ascending
  std::vector<bool> has_preserved_;     // of each step
  std::vector<bool> calls_outside_;     // of each step: what it calls makes registers
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_REGISTER_DEFINITIONS_H_
