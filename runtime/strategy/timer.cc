#include "runtime/strategy/timer.h"

#include "runtime/random.h"

namespace clew::rt {

std::uint64_t TimerStrategy::next_random() { return split_mix(random_); }

std::uint64_t TimerStrategy::next_slice() {
  constexpr std::uint64_t kOctaves = 14;
  const std::uint64_t bits = next_random();
  const std::uint64_t octave = std::uint64_t{1} << (bits % kOctaves);
  return octave + ((bits >> 8) & (octave - 1));
}

Decision TimerStrategy::decide(Clock event) {
  if (event < slice_end_) return {};
  slice_end_ = event + next_slice();
  return {Decision::Kind::kNext, nullptr};
}

}  // namespace clew::rt
