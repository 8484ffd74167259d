#include "runtime/strategy/patient.h"

#include "runtime/libc/heap.h"

namespace clew::rt {
namespace {

// All chosen; that few steps are enough to tell a loop was measured (docs/hunt.md). What a step finds
// is looked at from the second round of a short loop on.
constexpr std::uint64_t kLooksFrom = 3;
constexpr std::uint64_t kLeastSuspicion = 5;
constexpr std::uint64_t kSuspicions = 4;  // each twice the one before
// Each round of a loop is one more place to preempt it at, for a search that tries all of them.
constexpr std::uint64_t kSuspicionIfWaitedOut = 8;
constexpr std::uint64_t kUndecidedOneIn = 4;   // runs
constexpr std::uint64_t kLeastPatience = 256;  // where nothing is decided
constexpr std::uint64_t kPatienceWithHolds = 4096;
constexpr int kMostDoublings = 15;

}  // namespace

Patient::Patient(Strategy& inside, const abi::Job& job, Loops loops)
    : Wrapper(inside),
      loops_(loops),
      random_(job.seed ^ kSalt),
      brief_((job.flags & abi::kJobBriefWaits) != 0 || loops == Loops::kWaitedOut),
      decides_(loops != Loops::kRunThrough && random_.below(kUndecidedOneIn) != 0),
      suspicion_(loops == Loops::kWaitedOut ? kSuspicionIfWaitedOut
                                            : kLeastSuspicion << random_.below(kSuspicions)) {}

Patient::Seen* Patient::find(Thread& thread, const Step& step) {
  for (Seen& seen : thread.steps)
    if (seen.place == step.place && seen.object == step.object) return &seen;
  return nullptr;
}

bool Patient::is_new(Thread& thread, const Step& step) {
  Seen* const seen = find(thread, step);
  if (seen == nullptr) {
    thread.steps[thread.next++ % kLongestLoop] = {step.object, step.place, 0, false};
    return true;
  }
  if (thread.repeated < kLooksFrom || step.object == 0) return false;
  std::uint64_t value = 0;
  const std::size_t size = step.size - 1 < sizeof value ? step.size : sizeof value;
  constexpr std::uintptr_t kPage = 4096;
  if (step.object % kPage + size > kPage || !read_if_there(step.object, &value, size)) return true;
  const bool changed = seen->looked_at && seen->value != value;
  seen->value = value;
  seen->looked_at = true;
  return changed;
}

std::uint64_t Patient::draw_patience() {
  // Each doubling is a quarter as likely as the one before.
  const int zeros = __builtin_ctzll(random_.bits() | 1ull << (2 * kMostDoublings));
  return (loops_ == Loops::kRunThrough ? kPatienceWithHolds : kLeastPatience) << (zeros / 2);
}

// What was looked at belongs to the loop.
bool Patient::is_in_vain(const Thread& thread) const {
  for (const Seen& seen : thread.steps)
    for (std::uint32_t i = 0; i < in_vain_count_ && seen.looked_at; ++i)
      if (in_vain_[i] == seen.place) return true;
  return false;
}

void Patient::note_in_vain(const Thread& thread) {
  loops_left_ |= abi::kLoopNotLeft;
  for (const Seen& seen : thread.steps)
    if (seen.looked_at && in_vain_count_ < kMostInVain) in_vain_[in_vain_count_++] = seen.place;
}

// It has just been found to be in a loop.
void Patient::give_time(ThreadIndex index, Thread& thread) {
  if (brief_ || is_in_vain(thread)) return;
  if (!decides_) {
    if (thread.drawn == 0) thread.drawn = draw_patience();
    thread.patience = thread.drawn > suspicion_ ? thread.drawn : suspicion_ + 1;
  } else if (random_.below(2) == 0) {
    thread.patience = kPersistence;
    persisting_ = index;
  }
}

void Patient::follow_loop(ThreadIndex index, Thread& thread) {
  const bool had_time = thread.patience > suspicion_;
  if (thread.repeated == 0) {
    if (had_time && persisting_ == index) loops_left_ |= abi::kLoopLeftByItself;
    thread.patience = suspicion_;
  } else if (thread.repeated == suspicion_) {
    give_time(index, thread);
  } else if (thread.repeated == thread.patience && had_time) {
    note_in_vain(thread);
  }
  const bool waits_no_more = thread.repeated == 0 || thread.repeated >= thread.patience;
  if (persisting_ == index && waits_no_more) persisting_ = kNobody;
}

void Patient::executed(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  const bool waited = thread.patience != 0 && thread.repeated >= thread.patience;
  thread.repeated = is_new(thread, candidate.step) ? 0 : thread.repeated + 1;
  follow_loop(candidate.index, thread);
  const bool waits = thread.repeated >= thread.patience;
  waiting_ += static_cast<std::uint32_t>(waits) - static_cast<std::uint32_t>(waited);
  if (!waits) ++progress_;
  thread.progress = progress_;
}

bool Patient::is_held(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  return thread.patience != 0 && thread.repeated >= thread.patience &&
         thread.progress == progress_ && find(thread, candidate.step) != nullptr;
}

void Patient::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kExecuted) {
    executed(occurrence.thread);
    const bool in_loop = threads_.at(occurrence.thread.index).repeated > suspicion_;
    if (in_loop && loops_ == Loops::kCountedOnce) return;
  }
  Wrapper::learn(occurrence);
}

std::uint32_t Patient::pick(const Candidates& candidates) {
  if (CLEW_UNLIKELY(persisting_ != kNobody))
    for (std::uint32_t i = 0; i < candidates.count; ++i)
      if (candidates.list[i].index == persisting_) return i;
  if (CLEW_LIKELY(waiting_ == 0)) return Wrapper::pick(candidates);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    if (is_held(candidates.list[i])) continue;
    rest_.at(count) = candidates.list[i];
    places_.at(count++) = i;
  }
  if (count == 0 || count == candidates.count) return Wrapper::pick(candidates);
  held_back_ = true;
  const bool current_first = candidates.current_first && places_.at(0) == 0;
  const std::uint32_t picked = count > 1 ? Wrapper::pick({&rest_.at(0), count, current_first}) : 0;
  return places_.at(picked < count ? picked : 0);
}

}  // namespace clew::rt
