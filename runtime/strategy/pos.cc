#include "runtime/strategy/pos.h"

namespace clew::rt {

namespace {

constexpr std::uint64_t kFull = 100;

bool same(const Step& a, const Step& b) {
  return a.object == b.object && a.place == b.place && a.size == b.size && a.kind == b.kind;
}

}  // namespace

Pos::Pos(const abi::Job& job)
    : ChoosingStrategy(kSamples, ChoicePolicy(job.seed)),
      random_(job.seed),
      update_weight_(job.parameters[abi::kRandomUpdateWeight]),
      gathers_(update_weight_ > 0 && update_weight_ < kFull) {}

std::uint64_t Pos::priority(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  if (CLEW_LIKELY(thread.priority != 0 && same(thread.step, candidate.step)))
    return thread.priority;
  if (thread.living_place == 0) {
    living_.at(living_count_) = candidate.index;
    thread.living_place = ++living_count_;
  }
  thread.step = candidate.step;
  const std::uint64_t drawn = random_.bits();
  thread.priority = drawn | 1;
  if (gathers_ && candidate.step.kind == abi::StepKind::kUpdate)
    thread.priority = drawn / kFull * update_weight_ | 1;
  return thread.priority;
}

std::uint32_t Pos::pick(const Candidates& candidates) {
  std::uint32_t best = 0;
  std::uint64_t best_priority = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    if (gathers_ && waits_for_creator(candidates.list[i], candidates)) continue;
    const std::uint64_t p = priority(candidates.list[i]);
    if (p > best_priority) {
      best = i;
      best_priority = p;
    }
  }
  return best;
}

bool Pos::waits_for_creator(const Candidate& thread, const Candidates& candidates) {
  const abi::ThreadKey creator = threads_.at(thread.index).creator;
  const bool has_started = thread.step.place != 0;
  if (has_started || creator == 0 || since_creation_ >= kPatience) return false;
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    if (candidates.list[i].key == creator) return true;
  return false;
}

void Pos::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kCreated) {
    threads_.at(occurrence.thread.index).creator = occurrence.parent;
    since_creation_ = 0;
  }
  if (occurrence.kind == Occurrence::Kind::kExecuted) executed(occurrence.thread);
  if (occurrence.kind == Occurrence::Kind::kFinished) finished(occurrence.thread);
}

void Pos::executed(const Candidate& candidate) {
  ++since_creation_;
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
