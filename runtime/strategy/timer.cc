#include "runtime/strategy/timer.h"

#include "runtime/random.h"

namespace clew::rt {

std::uint64_t TimerStrategy::next_random() { return split_mix(random_); }

std::uint64_t TimerStrategy::next_slice(Clock event) {
  constexpr std::uint64_t kLeastOctaves = 4;
  constexpr std::uint64_t kMostOctaves = 17;
  std::uint64_t octaves = 64 - static_cast<std::uint64_t>(__builtin_clzll(event | 1));
  if (octaves < kLeastOctaves) octaves = kLeastOctaves;
  if (octaves > kMostOctaves) octaves = kMostOctaves;
  const std::uint64_t bits = next_random();
  const std::uint64_t octave = std::uint64_t{1} << (bits % octaves);
  return octave + ((bits >> 8) & (octave - 1));
}

Decision TimerStrategy::preempt(Clock event) {
  if (event < slice_end_) return {};
  slice_end_ = event + next_slice(event);
  return {Decision::Kind::kNext};
}

void TimerStrategy::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kSwitched)
    slice_end_ = occurrence.event + next_slice(occurrence.event);
}

}  // namespace clew::rt
