#include "runtime/strategy/pct.h"

namespace clew::rt {

Pct::Pct(const abi::Job& job)
    : ChoosingStrategy(kSamples, ChoicePolicy(job.seed)), random_(job.seed) {
  draw_changes(job.parameters[abi::kPctDepth], job.parameters[abi::kPctSteps]);
}

void Pct::draw_changes(std::uint64_t depth, std::uint64_t steps) {
  if (depth < 2) return;
  if (steps == 0) steps = 1;
  std::uint64_t count = depth - 1;
  if (count > steps) count = steps;
  if (count > kMostChanges) count = kMostChanges;
  changes_ = static_cast<Change*>(arena_alloc(count * sizeof(Change)));

  // Floyd: a set of `count` out of 1..steps, kept in order by insertion.
  for (std::uint64_t last = steps - count + 1; last <= steps && changes_count_ < count; ++last) {
    std::uint64_t step = 1 + random_.below(last);
    std::uint32_t at = 0;
    while (at < changes_count_ && changes_[at].step < step) ++at;
    if (at < changes_count_ && changes_[at].step == step) {
      step = last;  // later than all so far
      at = changes_count_;
    }
    for (std::uint32_t i = changes_count_; i > at; --i) changes_[i] = changes_[i - 1];
    changes_[at] = {step, 0};
    ++changes_count_;
  }
  // Which of them was drawn first is independent of which comes first.
  for (std::uint32_t i = 0; i < changes_count_; ++i) {
    const auto j = static_cast<std::uint32_t>(random_.below(i + 1));
    changes_[i].priority = changes_[j].priority;
    changes_[j].priority = i + 1;
  }
}

std::int64_t& Pct::priority_of(std::uint32_t index) {
  Thread& thread = threads_.at(index);
  if (CLEW_UNLIKELY(thread.priority == 0))
    thread.priority = static_cast<std::int64_t>((random_.bits() >> 2) | std::uint64_t{1} << 62);
  return thread.priority;
}

std::uint32_t Pct::highest(const Candidates& candidates) {
  std::uint32_t best = 0;
  std::int64_t best_priority = INT64_MIN;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    const std::int64_t priority = priority_of(candidates.list[i].index);
    if (priority > best_priority) {
      best = i;
      best_priority = priority;
    }
  }
  return best;
}

const Pct::Change* Pct::due_change() const {
  if (next_change_ == changes_count_ || changes_[next_change_].step != steps_ + 1) return nullptr;
  return &changes_[next_change_];
}

std::uint32_t Pct::pick(const Candidates& candidates) {
  contended_ = candidates.count > 1;
  std::uint32_t best = highest(candidates);
  if (const Change* change = due_change()) {
    ++next_change_;
    priority_of(candidates.list[best].index) = change->priority;
    best = highest(candidates);
  }
  return best;
}

void Pct::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kExecuted) executed(occurrence.thread);
  if (occurrence.kind == Occurrence::Kind::kYielded) yielded(occurrence.thread);
}

void Pct::executed(const Candidate& thread) {
  if (const Change* change = due_change()) {  // it was alone
    ++next_change_;
    priority_of(thread.index) = change->priority;
  }
  ++steps_;
  watch_spinning(thread);
  contended_ = false;
}

void Pct::yielded(const Candidate& thread) {
  Thread& yielding = threads_.at(thread.index);
  if (++yielding.yields < kSpinYields) return;
  yielding.yields = 0;
  priority_of(thread.index) = --lowest_;
}

void Pct::watch_spinning(const Candidate& thread) {
  if (thread.index != spinner_ || !contended_) {
    spinner_ = thread.index;
    spin_steps_ = spin_places_count_ = 0;
    return;
  }
  const std::uint64_t where = thread.step.place * 0x9e37'79b9'7f4a'7c15 + thread.step.object;
  std::uint32_t at = 0;
  while (at < spin_places_count_ && spin_places_[at] != where) ++at;
  if (at == spin_places_count_) {
    if (at == kSpinPlaces) spin_steps_ = spin_places_count_ = at = 0;
    spin_places_[at] = where;
    ++spin_places_count_;
  }
  if (++spin_steps_ < kSpinSteps) return;
  priority_of(thread.index) = --lowest_;
  spin_steps_ = spin_places_count_ = 0;
}

}  // namespace clew::rt
