// Makes the guides of strategies (clew_abi/guides.h).
#ifndef CLEW_HOST_SEARCH_GUIDES_H_
#define CLEW_HOST_SEARCH_GUIDES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "clew_abi/guides.h"

namespace clew {

using abi::kPlanHold;
using abi::kPlanInsist;
using abi::kPlanWatch;
using abi::PlanDirective;
using abi::PlanStop;
using abi::RffConstraint;
using abi::RffSign;
using abi::ScriptItem;
using abi::SurwThread;

// No `interesting` places: every step is interesting.
[[nodiscard]] std::vector<std::uint8_t> surw_guide(std::span<const SurwThread> threads,
                                                   std::span<const abi::Place> interesting);

// `rivals`: where what is read by constraints of the initial value is written; none: not known.
[[nodiscard]] std::vector<std::uint8_t> rff_guide(std::span<const RffConstraint> constraints,
                                                  std::span<const abi::Place> rivals);

[[nodiscard]] std::vector<std::uint8_t> plan_guide(std::span<const PlanDirective> directives);

[[nodiscard]] std::vector<std::uint8_t> script_guide(std::span<const ScriptItem> items);

// The points that have noise; those of an empty list are none.
[[nodiscard]] std::vector<std::uint8_t> noise_guide(std::span<const abi::Place> points);

// The index (order of creation) of the thread of each step.
[[nodiscard]] std::vector<std::uint8_t> prefix_guide(std::span<const std::uint32_t> threads);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_GUIDES_H_
