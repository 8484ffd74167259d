#include "runtime/strategy/random_walk.h"

namespace clew::rt {

RandomWalk::RandomWalk(const abi::Job& job) : random_(job.seed), choices_(job.seed) {}

std::uint32_t RandomWalk::pick(const Candidates& candidates) {
  return static_cast<std::uint32_t>(random_.below(candidates.count));
}

std::uint32_t RandomWalk::choose(abi::ChoiceKind kind, std::uint32_t count) {
  return choices_.choose(kind, count);
}

}  // namespace clew::rt
