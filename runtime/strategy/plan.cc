#include "runtime/strategy/plan.h"

namespace clew::rt {

Plan::Plan(const abi::Job& job)
    : ChoosingStrategy(kAtEveryPoint, ChoicePolicy::of_parameter(job)),
      lockstep_(job.parameters[abi::kPlanLockstep]),
      in_lockstep_(job.parameters[abi::kPlanLockstep] != 0),
      longest_hold_(job.parameters[abi::kPlanLongestHold]),
      linger_(job.parameters[abi::kPlanLinger]) {
  if (!read_guide(job)) directives_count_ = 0;
}

bool Plan::read_guide(const abi::Job& job) {
  abi::Reader reader(guide_of(job), job.guide.size);
  const std::uint64_t count = reader.varint();
  if (!reader.ok() || count > job.guide.size) return false;  // each is at least a byte
  directives_ = static_cast<Directive*>(arena_alloc((count + 1) * sizeof(Directive)));
  for (std::uint64_t i = 0; i < count; ++i) {
    abi::PlanDirective given;
    if (!abi::read_item(reader, given) || given.stop >= Stop::kCount ||
        given.flags > abi::kPlanAllFlags)
      return false;
    directives_[directives_count_++] = {
        given.thread, given.place, given.times > 0 ? given.times : 1,
        given.stop,   given.flags, false};
  }
  return reader.at_end();
}

Plan::Directive* Plan::in_force() {
  while (next_ < directives_count_ && directives_[next_].dropped) leave(Left::kGivenUp);
  return next_ < directives_count_ ? &directives_[next_] : nullptr;
}

void Plan::leave(Left left) {
  const Directive& directive = directives_[next_++];
  passed_ = 0;
  if (left == Left::kStopReached && (directive.flags & abi::kPlanHold) && !is_held(directive.key))
    held_.at(held_count_++) = {directive.key, steps_};
}

bool Plan::is_held(abi::ThreadKey key) {
  for (std::uint32_t i = 0; i < held_count_; ++i) {
    const Held& held = held_.at(i);
    if (held.key != key) continue;
    if (longest_hold_ == 0 || steps_ - held.since < longest_hold_) return true;
    release(key);
    return false;
  }
  return false;
}

void Plan::release(abi::ThreadKey key) {
  for (std::uint32_t i = 0; i < held_count_; ++i) {
    if (held_.at(i).key != key) continue;
    held_.at(i) = held_.at(--held_count_);
    return;
  }
}

std::uint32_t Plan::default_of(const Candidates& candidates) {
  if (in_lockstep_) {
    const std::uint32_t at = lockstep_.pick_unless(candidates, [this](const Candidate& thread) {
      return is_held(thread.key) || lingers(thread);
    });
    release(candidates.list[at].key);
    return at;
  }
  if (held_count_ == 0 && linger_ == 0) return 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    if (!is_held(candidates.list[i].key) && !lingers(candidates.list[i])) return i;
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    if (!lingers(candidates.list[i])) return released(candidates, i);
  return released(candidates, 0);
}

std::uint32_t Plan::released(const Candidates& candidates, std::uint32_t at) {
  release(candidates.list[at].key);
  return at;
}

bool Plan::lingers(const Candidate& thread) {
  if (thread.step.place != 0 || !started_.at(thread.index) || lingered_ >= linger_) return false;
  is_lingering_ = true;
  return true;
}

bool Plan::stands_at_stop(const Directive& directive, const Step& step) const {
  return directive.stop == Stop::kBefore && step.place == directive.place &&
         passed_ + 1 >= directive.times;
}

std::uint32_t Plan::pick(const Candidates& candidates) {
  asked_ = true;
  while (Directive* directive = in_force()) {
    if (directive->key == 0) directive->key = candidates.list[default_of(candidates)].key;
    release(directive->key);
    std::uint32_t at = 0;
    while (at < candidates.count && candidates.list[at].key != directive->key) ++at;
    if (at < candidates.count) {
      const bool reached = stands_at_stop(*directive, candidates.list[at].step);
      if (!reached && (directive->flags & abi::kPlanWatch)) break;
      if (!reached) return at;
      leave(Left::kStopReached);
    } else if (directive->flags & (abi::kPlanInsist | abi::kPlanWatch)) {
      break;
    } else {
      leave(directive->stop == Stop::kEnd ? Left::kStopReached : Left::kGivenUp);
    }
  }
  return default_of(candidates);
}

void Plan::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kExecuted) executed(occurrence.thread);
  if (occurrence.kind == Occurrence::Kind::kFinished) finished(occurrence.thread);
  if (occurrence.kind == Occurrence::Kind::kSwitched) started_.at(occurrence.thread.index) = true;
  lockstep_.learn(occurrence);
}

void Plan::executed(const Candidate& thread) {
  // It was alone: what comes into force or is given up by that, pick() knows.
  if (!asked_) pick({&thread, 1, false});
  asked_ = false;
  ++steps_;
  if (is_lingering_) ++lingered_;
  const Directive* directive = in_force();
  if (directive == nullptr || directive->key != thread.key) return;
  switch (directive->stop) {
    case Stop::kSteps:
      if (++passed_ >= directive->times) leave(Left::kStopReached);
      break;
    case Stop::kBefore:
      if (thread.step.place == directive->place) ++passed_;
      break;
    case Stop::kAfter:
      if (thread.step.place == directive->place && ++passed_ >= directive->times)
        leave(Left::kStopReached);
      break;
    case Stop::kEnd:
    case Stop::kCount:
      break;
  }
}

void Plan::finished(const Candidate& thread) {
  for (std::uint32_t i = next_; i < directives_count_; ++i)
    if (directives_[i].key == thread.key) directives_[i].dropped = true;
  release(thread.key);
}

}  // namespace clew::rt
