// Guides: what a job tells its strategy beyond parameters, as bytes. Each format is described where
// it is read, in runtime/strategy/NAME.h; all are varints. A guide that is not one of these is
// ignored by the strategy, which then does as if it had none.
#ifndef CLEW_HOST_SEARCH_GUIDES_H_
#define CLEW_HOST_SEARCH_GUIDES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "clew_abi/job.h"

namespace clew {

// surw
struct SurwThread {
  abi::ThreadKey key = 0;
  std::uint64_t own = 0;      // interesting steps it executes itself
  std::uint64_t created = 0;  // those of the threads that it creates, and these create, and so on
};
// No `interesting` places: every step is interesting.
[[nodiscard]] std::vector<std::uint8_t> surw_guide(std::span<const SurwThread> threads,
                                                   std::span<const abi::Place> interesting);

// rff
enum class RffSign : std::uint8_t { kPositive = 0, kNegative = 1 };
struct RffConstraint {
  abi::Place write = 0;  // 0: the initial value
  abi::Place read = 0;
  RffSign sign = RffSign::kPositive;
  bool operator==(const RffConstraint&) const = default;
};
// `rivals`: where what is read by constraints of the initial value is written; none: not known.
[[nodiscard]] std::vector<std::uint8_t> rff_guide(std::span<const RffConstraint> constraints,
                                                  std::span<const abi::Place> rivals);

// plan
enum class PlanStop : std::uint8_t { kSteps = 0, kBefore = 1, kAfter = 2, kEnd = 3 };
enum PlanFlags : std::uint8_t {
  kPlanInsist = 1u << 0,
  kPlanHold = 1u << 1,
  kPlanWatch = 1u << 2,
};
struct PlanDirective {
  abi::ThreadKey thread = 0;  // 0: whoever is the default
  PlanStop stop = PlanStop::kSteps;
  abi::Place place = 0;  // kBefore, kAfter
  std::uint64_t times = 1;
  std::uint8_t flags = 0;  // PlanFlags
  bool operator==(const PlanDirective&) const = default;
};
[[nodiscard]] std::vector<std::uint8_t> plan_guide(std::span<const PlanDirective> directives);

// script
struct ScriptItem {
  abi::ThreadKey thread = 0;
  std::uint64_t own = 0;      // the event that it stands before, of those that it executes itself
  std::uint8_t kind = 0;      // 0: a preemption, otherwise 1 + abi::ChoiceKind
  std::uint32_t ordinal = 0;  // of the question, or of the preemption at that event
  abi::ThreadKey to = 0;      // 0: the next in the run queue; of choices that name no thread
  bool operator==(const ScriptItem&) const = default;
};
[[nodiscard]] std::vector<std::uint8_t> script_guide(std::span<const ScriptItem> items);
// The decisions of a trace (abi::StepKind::kDecision): the script of that run.
[[nodiscard]] std::vector<ScriptItem> script_of(std::span<const abi::TraceEvent> trace);

// prefix: the index (order of creation) of the thread of each step
[[nodiscard]] std::vector<std::uint8_t> prefix_guide(std::span<const std::uint32_t> threads);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_GUIDES_H_
