#include "runtime/sched/decider.h"

#include "runtime/arena.h"

namespace clew::rt {
namespace {

bool can_run(const Fiber& fiber) {
  return fiber.disturbed || fiber.reached.can_proceed == nullptr ||
         fiber.reached.can_proceed(fiber);
}

}  // namespace

void Decider::begin(Strategy& strategy, std::uint32_t choices) {
  strategy_ = &strategy;
  at_every_point_ = strategy.manner.at_every_point;
  picks_ = strategy.manner.picks && (choices & bit(abi::ChoiceKind::kPick)) != 0;
  choices_ = strategy.manner.follows ? ~0u : choices;
}

void Decider::stop() {
  at_every_point_ = picks_ = false;
  choices_ = 0;
}

void Decider::add(Fiber* fiber) {
  candidates_[count_] = candidate_of(*fiber);
  fibers_[count_++] = fiber;
  if (fiber->index < 64) enabled_ |= std::uint64_t{1} << fiber->index;
}

bool Decider::continues(const Fiber& running) {
  return can_run(running) && strategy_->continues(candidate_of(running));
}

Candidates Decider::gather(Fiber* running, const RunQueue& queue, std::uint32_t most) {
  if (room_ < most) {
    room_ = most * 2;
    candidates_ = static_cast<Candidate*>(arena_alloc(room_ * sizeof(Candidate)));
    fibers_ = static_cast<Fiber**>(arena_alloc(room_ * sizeof(Fiber*)));
  }
  count_ = 0;
  enabled_ = 0;
  const bool current_first = running != nullptr && can_run(*running);
  if (current_first) add(running);
  for (Fiber* f = queue.head(); f != nullptr; f = f->next)
    if (can_run(*f)) add(f);
  if (count_ > 0) return {candidates_, count_, current_first};
  // Each waits for a lock that is taken: let them find out.
  if (running != nullptr) add(running);
  for (Fiber* f = queue.head(); f != nullptr; f = f->next) add(f);
  return {candidates_, count_, running != nullptr};
}

Fiber* Decider::pick(const Candidates& candidates) {
  const std::uint32_t answer = candidates.count > 1 ? strategy_->pick(candidates) : 0;
  return fibers_[answer < candidates.count ? answer : 0];
}

std::uint32_t Decider::next_ordinal(Clock event) {
  if (ordinal_event_ != event) {
    ordinal_event_ = event;
    ordinal_ = 0;
  }
  return ordinal_++;
}

}  // namespace clew::rt
