#include "runtime/strategy/surw.h"

namespace clew::rt {

namespace {

// Sums of all weights must not overflow.
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 40;

std::uint64_t at_most(std::uint64_t value) { return value < kMostSteps ? value : kMostSteps; }

}  // namespace

Surw::Surw(const abi::Job& job)
    : ChoosingStrategy(kSamples, ChoicePolicy(job.seed)), random_(job.seed) {
  if (read_guide(job)) return;
  estimates_ = {};
  places_ = {};
}

bool Surw::read_guide(const abi::Job& job) {
  abi::Reader reader(guide_of(job), job.guide.size);
  // An item is at least a byte: counts that are too large fail before much is allocated.
  for (std::uint64_t left = reader.varint(); left > 0 && reader.ok(); --left) {
    abi::SurwThread thread;
    if (abi::read_item(reader, thread))
      estimates_.put(thread.key, {at_most(thread.own) + at_most(thread.created), 0});
  }
  for (std::uint64_t left = reader.varint(); left > 0 && reader.ok(); --left) {
    const abi::Place place = reader.varint();
    if (reader.ok()) places_.put(place, true);
  }
  return reader.ok() && reader.at_end();
}

Surw::Thread& Surw::thread_of(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  if (CLEW_LIKELY(thread.known)) return thread;
  thread.known = true;
  if (Estimate* estimate = estimates_.find(candidate.key)) {
    thread.remaining = estimate->total;
    estimate->index_plus_one = candidate.index + 1;
  }
  return thread;
}

bool Surw::interesting(const Step& step) {
  return places_.size() == 0 || places_.find(step.place) != nullptr;
}

std::uint64_t Surw::weight(const Candidate& candidate) {
  const std::uint64_t remaining = thread_of(candidate).remaining;
  return remaining > 0 ? remaining : interesting(candidate.step) ? 1 : 0;
}

void Surw::draw_intent(const Candidates& candidates, Among among) {
  since_interesting_ = 0;
  intent_ = kNobody;
  const auto counts = [&](const Candidate& c) {
    return among == Among::kAll || interesting(c.step) ? weight(c) : 0;
  };
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i) total += counts(candidates.list[i]);
  if (total == 0) return;
  std::uint64_t ticket = random_.below(total);
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    const std::uint64_t w = counts(candidates.list[i]);
    if (ticket < w) {
      intent_ = candidates.list[i].index;
      return;
    }
    ticket -= w;
  }
}

bool Surw::free_to_go(const Candidate& candidate) {
  return candidate.index == intent_ || !interesting(candidate.step);
}

std::uint32_t Surw::pick(const Candidates& candidates) {
  if (intent_ == kNobody) draw_intent(candidates, Among::kAll);
  if (CLEW_UNLIKELY(since_interesting_ >= kPatience))
    draw_intent(candidates, Among::kBeforeInteresting);

  for (int attempt = 0; attempt < 2; ++attempt) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < candidates.count; ++i) count += free_to_go(candidates.list[i]);
    if (count > 0) {
      std::uint64_t ticket = random_.below(count);
      for (std::uint32_t i = 0; i < candidates.count; ++i)
        if (free_to_go(candidates.list[i]) && ticket-- == 0) return i;
    }
    // The intent cannot run, and nobody else may: all weigh something, so this finds one.
    draw_intent(candidates, Among::kAll);
  }
  return 0;
}

void Surw::learn(const Occurrence& occurrence) {
  const Candidate& thread = occurrence.thread;
  if (occurrence.kind == Occurrence::Kind::kExecuted) executed(thread);
  if (occurrence.kind == Occurrence::Kind::kCreated) created(thread, occurrence.parent);
  if (occurrence.kind == Occurrence::Kind::kFinished && intent_ == thread.index) intent_ = kNobody;
}

void Surw::executed(const Candidate& candidate) {
  Thread& thread = thread_of(candidate);
  if (!interesting(candidate.step)) {
    ++since_interesting_;
    return;
  }
  since_interesting_ = 0;
  if (thread.remaining > 0) --thread.remaining;
  intent_ = kNobody;
}

void Surw::created(const Candidate& candidate, abi::ThreadKey parent_key) {
  const std::uint64_t child = thread_of(candidate).remaining;
  const Estimate* estimate = estimates_.find(parent_key);
  if (estimate == nullptr || estimate->index_plus_one == 0) return;
  const std::uint32_t parent_index = estimate->index_plus_one - 1;
  Thread& parent = threads_.at(parent_index);
  const std::uint64_t before = parent.remaining;
  parent.remaining = before > child ? before - child : 0;
  // The intent was the two of them together.
  if (intent_ == parent_index && before > 0 && random_.below(before) < child)
    intent_ = candidate.index;
}

}  // namespace clew::rt
