#include "runtime/strategy/random_walk.h"

namespace clew::rt {

namespace {
constexpr std::uint64_t kFull = 100;
}

RandomWalk::RandomWalk(const abi::Job& job)
    : ChoosingStrategy(kSamples, ChoicePolicy(job.seed)),
      random_(job.seed),
      update_weight_(job.parameters[abi::kRandomUpdateWeight] > 0 &&
                             job.parameters[abi::kRandomUpdateWeight] < kFull
                         ? job.parameters[abi::kRandomUpdateWeight]
                         : kFull) {}

std::uint32_t RandomWalk::pick(const Candidates& candidates) {
  if (update_weight_ == kFull) return static_cast<std::uint32_t>(random_.below(candidates.count));
  const auto weight = [&](std::uint32_t i) {
    return candidates.list[i].step.kind == abi::StepKind::kUpdate ? update_weight_ : kFull;
  };
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i) total += weight(i);
  std::uint64_t at = random_.below(total);
  std::uint32_t chosen = 0;
  for (; at >= weight(chosen); ++chosen) at -= weight(chosen);
  return chosen;
}

}  // namespace clew::rt
