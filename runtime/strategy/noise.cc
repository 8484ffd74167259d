#include "runtime/strategy/noise.h"

namespace clew::rt {
namespace {

constexpr std::uint64_t kFull = 100;

std::uint64_t percentage(std::uint64_t given, std::uint64_t otherwise) {
  return given == 0 ? otherwise : given > kFull ? kFull : given;
}

}  // namespace

Noise::Noise(const abi::Job& job)
    : Strategy(kAtEveryPoint),
      random_(job.seed),
      seed_(job.seed),
      percent_(percentage(job.parameters[abi::kNoisePercent], kPercent)),
      yields_(job.parameters[abi::kNoiseYields] == 0
                  ? kYields
                  : percentage(job.parameters[abi::kNoiseYields] - 1, 0)),
      density_(percentage(job.parameters[abi::kNoiseDensity], kFull)),
      sides_(job.parameters[abi::kNoiseSides]),
      everywhere_(!read_guide(job)) {}

// False: there is none, or it is not of the form of one.
bool Noise::read_guide(const abi::Job& job) {
  if (job.guide.size == 0) return false;
  abi::Reader reader(guide_of(job), job.guide.size);
  const std::uint64_t count = reader.varint();
  if (!reader.ok() || count > job.guide.size) return false;  // each is at least a byte
  for (std::uint64_t i = 0; i < count; ++i) {
    const abi::Place place = reader.varint();
    if (!reader.ok()) return false;
    chosen_.put(place, true);
  }
  return reader.at_end();
}

bool Noise::is_chosen(abi::Place place) {
  if (place == 0) return false;
  if (!everywhere_) return chosen_.find(place) != nullptr;
  if (density_ == kFull) return true;
  std::uint64_t state = seed_ ^ place * 0x9e37'79b9'7f4a'7c15;
  return split_mix(state) % kFull < density_;
}

void Noise::make_noise(Thread& thread) {
  if (random_.below(kFull) < yields_) {
    thread.state = State::kYields;
    return;
  }
  const std::uint64_t octave = std::uint64_t{1}
                               << (kShortestDelay + random_.below(kLongestDelay - kShortestDelay));
  thread.state = State::kDelayed;
  thread.until = now_ + octave + random_.below(octave);
  if (thread.until < next_end_) next_end_ = thread.until;
}

bool Noise::comes_after(abi::Place place) {
  return sides_ == 0 ? random_.below(2) == 0 : abi::noise_comes_after(sides_, place);
}

void Noise::toss(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  if (thread.tossed) return;
  thread.tossed = true;
  if (!is_chosen(candidate.step.place) || random_.below(kFull) >= percent_) return;
  if (comes_after(candidate.step.place)) {
    thread.after = true;
  } else {
    make_noise(thread);
  }
}

// `woken`: the one whose delay ended first, of those that end here.
void Noise::end_delays(const Candidates& candidates, std::uint32_t& woken) {
  std::uint64_t earliest = kNever;
  next_end_ = kNever;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    Thread& thread = threads_.at(candidates.list[i].index);
    if (thread.state != State::kDelayed) continue;
    if (thread.until > now_) {
      if (thread.until < next_end_) next_end_ = thread.until;
      continue;
    }
    thread.state = State::kReady;
    if (thread.until < earliest) earliest = thread.until, woken = i;
  }
  // Those that are delayed and not among the candidates wait for a lock as well.
  const std::uint64_t soon = now_ + (std::uint64_t{1} << kShortestDelay);
  if (next_end_ > soon) next_end_ = soon;
}

std::uint32_t Noise::first_to_wake(const Candidates& candidates) {
  std::uint32_t first = 0;
  for (std::uint32_t i = 1; i < candidates.count; ++i)
    if (threads_.at(candidates.list[i].index).until <
        threads_.at(candidates.list[first].index).until)
      first = i;
  Thread& thread = threads_.at(candidates.list[first].index);
  if (thread.until > now_) now_ = thread.until;
  thread.state = State::kReady;
  return first;
}

// Most points are not chosen, and nothing is due at them.
bool Noise::continues(const Candidate& running) {
  toss(running);
  return now_ < next_end_ && threads_.at(running.index).state == State::kReady;
}

// One that was woken and is to take its lock again has come to a step that it has not stood before.
bool Noise::has_noise_now(const Candidate& candidate) {
  if (threads_.at(candidate.index).tossed) return false;
  toss(candidate);
  return threads_.at(candidate.index).state != State::kReady;
}

std::uint32_t Noise::pick(const Candidates& candidates) {
  if (candidates.current_first) toss(candidates.list[0]);
  std::uint32_t woken = kNobody;
  if (CLEW_UNLIKELY(now_ >= next_end_)) end_delays(candidates, woken);
  const State current = threads_.at(candidates.list[0].index).state;
  if (woken != kNobody) return woken;
  if (candidates.current_first && current == State::kReady) return 0;
  std::uint32_t yielding = kNobody;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    const State state = threads_.at(candidates.list[i].index).state;
    const bool lets_others_run = state == State::kYields && candidates.current_first && i == 0;
    if (state == State::kDelayed) continue;
    if (!lets_others_run && !has_noise_now(candidates.list[i])) return i;
    if (threads_.at(candidates.list[i].index).state == State::kYields) yielding = i;
  }
  return yielding != kNobody ? yielding : first_to_wake(candidates);
}

bool Noise::is_another_delayed() {
  for (ThreadIndex i = 0; i < known_; ++i) {
    const Thread& thread = threads_.at(i);
    if (i != running_ && thread.state == State::kDelayed && thread.until > now_) return true;
  }
  return false;
}

Choice Noise::choose(const Question& question) {
  if (question.kind != abi::ChoiceKind::kTimeout || !is_another_delayed()) return {};
  return Choice::position(static_cast<std::uint32_t>(random_.below(2)));
}

void Noise::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kCreated) {
    threads_.at(occurrence.thread.index) = {};
    if (occurrence.thread.index >= known_) known_ = occurrence.thread.index + 1;
  }
  if (occurrence.kind == Occurrence::Kind::kSwitched) running_ = occurrence.thread.index;
  if (occurrence.kind != Occurrence::Kind::kExecuted) return;
  ++now_;
  // Noise before an event that nobody could have come before says nothing: the coin is tossed all
  // the same, for what comes after it.
  toss(occurrence.thread);
  Thread& thread = threads_.at(occurrence.thread.index);
  const bool after = thread.after;
  thread = {};
  if (after) make_noise(thread);
}

}  // namespace clew::rt
