#include "runtime/strategy/rff.h"

namespace clew::rt {

namespace {

constexpr abi::Place kElsewhere = UINT64_MAX;  // a write at no constraint's place

bool reads(const Step& step) {
  return step.kind == abi::StepKind::kRead || step.kind == abi::StepKind::kUpdate;
}
bool writes(const Step& step) {
  return step.kind == abi::StepKind::kWrite || step.kind == abi::StepKind::kUpdate ||
         abi::ends_life(step.kind);
}

}  // namespace

Rff::Rff(const abi::Job& job) : Strategy(kSamples), pos_(job) {
  if (read_guide(job)) return;
  constraints_count_ = unmet_ = unmet_initial_ = 0;
  all_writes_matter_ = false;
}

bool Rff::read_guide(const abi::Job& job) {
  abi::Reader reader(guide_of(job), job.guide.size);
  const std::uint64_t count = reader.varint();
  if (!reader.ok() || count > job.guide.size) return false;  // each is at least a byte
  constraints_ = static_cast<Constraint*>(arena_alloc((count + 1) * sizeof(Constraint)));
  for (std::uint64_t i = 0; i < count; ++i) {
    abi::RffConstraint given;
    if (!abi::read_item(reader, given) || given.sign >= abi::RffSign::kCount) return false;
    const bool negative = given.sign == abi::RffSign::kNegative;
    constraints_[constraints_count_++] = {given.write, given.read, negative, false};
    if (!negative) ++unmet_;
    if (!negative && given.write == 0) ++unmet_initial_;
    if (given.write == 0) all_writes_matter_ = true;
  }
  for (std::uint64_t left = reader.varint(); left > 0 && reader.ok(); --left) {
    const abi::Place place = reader.varint();
    if (reader.ok()) rivals_.put(place, true);
  }
  return reader.ok() && reader.at_end();
}

abi::Place Rff::last_write(std::uintptr_t object) {
  const abi::Place* place = last_writes_.find(object);
  return place != nullptr ? *place : 0;
}

void Rff::wrote(const Step& step) {
  bool matters = all_writes_matter_;
  for (std::uint32_t i = 0; i < constraints_count_ && !matters; ++i)
    matters = constraints_[i].write == step.place;
  if (matters) {
    last_writes_.put(step.object, step.place);
  } else if (abi::Place* place = last_writes_.find(step.object)) {
    *place = kElsewhere;
  }
}

Rff::Urge Rff::urge_of_read(const Step& step) {
  Urge answer = Urge::kOrdinary;
  bool looked_up = false;
  abi::Place last = 0;
  bool wanted = false;  // by a positive constraint that a wait may help
  for (std::uint32_t i = 0; i < constraints_count_; ++i) {
    const Constraint& c = constraints_[i];
    if (c.read != step.place || c.met) continue;
    if (!looked_up) last = last_write(step.object);
    looked_up = true;
    if (c.negative) {
      if (c.write == last) return Urge::kWaits;
    } else if (c.write == last) {
      answer = Urge::kGoesFirst;
    } else if (c.write != 0) {
      wanted = true;
    }
  }
  return answer == Urge::kOrdinary && wanted ? Urge::kWaits : answer;
}

bool Rff::write_waits(const Step& step, Thread& thread) {
  if (unmet_ == 0) return false;
  const abi::Place last = last_write(step.object);
  if (last == 0) return first_write_waits(step, thread);
  if (last == step.place) return false;
  for (std::uint32_t i = 0; i < constraints_count_; ++i) {
    const Constraint& c = constraints_[i];
    if (!c.negative && !c.met && c.write == last) return true;
  }
  return false;
}

bool Rff::first_write_waits(const Step& step, Thread& thread) {
  if (unmet_initial_ == 0) return false;
  if (rivals_.size() > 0) return rivals_.find(step.place) != nullptr;
  if (thread.first_write) return true;
  if (first_writes_left_ == 0) return false;
  --first_writes_left_;
  return thread.first_write = true;
}

Rff::Urge Rff::urge(const Candidate& candidate) {
  const Step& step = candidate.step;
  if (constraints_count_ == 0 || step.object == 0 || !abi::is_access(step.kind))
    return Urge::kOrdinary;
  Urge answer = reads(step) ? urge_of_read(step) : Urge::kOrdinary;
  if (answer == Urge::kGoesFirst) return answer;
  Thread& thread = threads_.at(candidate.index);
  if (answer == Urge::kOrdinary && writes(step) && write_waits(step, thread)) answer = Urge::kWaits;
  if (answer != Urge::kWaits) return answer;
  if (thread.waits_since == 0) thread.waits_since = steps_ + 1;
  return steps_ + 1 - thread.waits_since < kPatience ? Urge::kWaits : Urge::kOrdinary;
}

std::uint32_t Rff::pick(const Candidates& candidates) {
  std::uint32_t best = 0;
  std::uint64_t best_priority = 0;
  Urge best_urge = Urge::kWaits;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    const Urge u = urge(candidates.list[i]);
    const std::uint64_t p = pos_.priority(candidates.list[i]);
    if (u > best_urge || (u == best_urge && p > best_priority)) {
      best = i;
      best_urge = u;
      best_priority = p;
    }
  }
  return best;
}

void Rff::learn(const Occurrence& occurrence) {
  pos_.learn(occurrence);
  if (occurrence.kind == Occurrence::Kind::kExecuted) executed(occurrence.thread);
}

void Rff::executed(const Candidate& candidate) {
  ++steps_;
  threads_.at(candidate.index) = {};
  const Step& step = candidate.step;
  if (constraints_count_ == 0 || step.object == 0) return;
  if (reads(step) && unmet_ > 0) {
    for (std::uint32_t i = 0; i < constraints_count_; ++i) {
      Constraint& c = constraints_[i];
      if (c.negative || c.met || c.read != step.place || c.write != last_write(step.object))
        continue;
      c.met = true;
      --unmet_;
      if (c.write == 0) --unmet_initial_;
    }
  }
  if (writes(step)) wrote(step);
}

}  // namespace clew::rt
