#include "runtime/strategy/chaos.h"

namespace clew::rt {

namespace {

constexpr std::uint32_t kMostTurns = 4;
constexpr Clock kPeriod = 5;  // in lengths of a starving interval
constexpr std::uint32_t kLeastStarvingOctave = 6;
constexpr std::uint32_t kStarvingOctaves = 12;
constexpr Clock kLeastEra = 1000;
constexpr Clock kLongestEra = 1u << 20;

Clock clamp(Clock value, Clock least, Clock most) {
  return value < least ? least : value > most ? most : value;
}

}  // namespace

Chaos::Chaos(const abi::Job& job)
    : ChoosingStrategy(kByClockAndPicks, ChoicePolicy(job.seed)), random_(job.seed) {}

Clock Chaos::next_slice(Clock event) {
  const Clock longest = clamp(4 * event, kVeryShortSlice, kLongSlice);
  const std::uint64_t kind = random_.below(10);
  const Clock limit = kind == 0 ? kVeryShortSlice : kind == 1 ? kShortSlice : kLongSlice;
  return 1 + random_.below(limit < longest ? limit : longest);
}

void Chaos::refresh(Clock event) {
  if (event >= era_end_) {
    ++era_;
    era_end_ = event + 1 + random_.below(clamp(4 * event, kLeastEra, kLongestEra));
  }
  if (event >= starving_end_) {
    starving_length_ = Clock{1} << (kLeastStarvingOctave + random_.below(kStarvingOctaves));
    starving_start_ = event + random_.below((kPeriod - 1) * starving_length_);
    starving_end_ = event + kPeriod * clamp(16 * event, kLeastEra, kLongSlice);
  }
}

Clock Chaos::starves_until(Clock event) const {
  if (event < starving_start_) return 0;
  const Clock into = (event - starving_start_) % (kPeriod * starving_length_);
  return into < starving_length_ ? event - into + starving_length_ : 0;
}

bool Chaos::low_priority(std::uint32_t index) {
  Thread& thread = threads_.at(index);
  if (thread.drawn_in != era_) {
    thread.drawn_in = era_;
    thread.low_priority = random_.below(10) < (index == 0 ? 3u : 1u);
  }
  return thread.low_priority;
}

Decision Chaos::preempt(Clock event) {
  if (event == turning_at_) {
    if (turns_ == 0) return {};
    --turns_;
    return {Decision::Kind::kNext};
  }
  if (event < slice_end_) return {};
  refresh(event);
  if (const Clock end = starves_until(event)) {
    slice_end_ = end;
    return {};
  }
  turning_at_ = event;
  turns_ = static_cast<std::uint32_t>(random_.below(kMostTurns));
  slice_end_ = event + next_slice(event);  // should nobody else be ready
  return {Decision::Kind::kNext};
}

void Chaos::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kSwitched)
    slice_end_ = occurrence.event + next_slice(occurrence.event);
}

std::uint32_t Chaos::pick(const Candidates& candidates) {
  std::uint32_t high = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    high += !low_priority(candidates.list[i].index);
  if (high == 0) return static_cast<std::uint32_t>(random_.below(candidates.count));
  std::uint64_t ticket = random_.below(high);
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    if (!low_priority(candidates.list[i].index) && ticket-- == 0) return i;
  return 0;
}

}  // namespace clew::rt
