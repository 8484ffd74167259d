#include "runtime/strategy/pos.h"

namespace clew::rt {

namespace {

bool same(const Step& a, const Step& b) {
  return a.object == b.object && a.place == b.place && a.size == b.size && a.kind == b.kind;
}

}  // namespace

Pos::Pos(const abi::Job& job)
    : ChoosingStrategy(kAtEveryPoint, ChoicePolicy(job.seed)), random_(job.seed) {}

std::uint64_t Pos::priority(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  if (CLEW_LIKELY(thread.priority != 0 && same(thread.step, candidate.step)))
    return thread.priority;
  if (thread.living_place == 0) {
    living_.at(living_count_) = candidate.index;
    thread.living_place = ++living_count_;
  }
  thread.step = candidate.step;
  thread.priority = random_.bits() | 1;
  return thread.priority;
}

std::uint32_t Pos::pick(const Candidates& candidates) {
  std::uint32_t best = 0;
  std::uint64_t best_priority = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    const std::uint64_t p = priority(candidates.list[i]);
    if (p > best_priority) {
      best = i;
      best_priority = p;
    }
  }
  return best;
}

void Pos::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kExecuted) executed(occurrence.thread);
  if (occurrence.kind == Occurrence::Kind::kFinished) finished(occurrence.thread);
}

void Pos::executed(const Candidate& candidate) {
  for (std::uint32_t i = 0; i < living_count_; ++i) {
    Thread& other = threads_.at(living_.at(i));
    if (conflict(other.step, candidate.step)) other.priority = 0;
  }
  threads_.at(candidate.index).priority = 0;
}

void Pos::finished(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  if (thread.living_place == 0) return;
  const std::uint32_t moved = living_.at(--living_count_);
  living_.at(thread.living_place - 1) = moved;
  threads_.at(moved).living_place = thread.living_place;
  thread.living_place = 0;
}

}  // namespace clew::rt
