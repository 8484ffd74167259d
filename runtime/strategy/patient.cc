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
// In points; less than any fair slice of a run that is decided on at every point (sched/deciding.cc).
constexpr Clock kLongTurn = 30'000;
// Where nothing was written that its loop looks at. Chosen: all such threads together then take few of a
// run's steps, and a loop that gives up after some rounds still does while others are at work.
constexpr std::uint64_t kLetInOneIn = 64;

bool may_write(const Step& step) {
  return step.object != 0 && step.kind != abi::StepKind::kRead &&
         step.kind != abi::StepKind::kOther;
}

// What is there, or the first bytes of it.
bool look_at(const Step& step, std::uint64_t& value) {
  const std::size_t size = step.size - 1 < sizeof value ? step.size : sizeof value;
  constexpr std::uintptr_t kPage = 4096;
  return step.object % kPage + size <= kPage && read_if_there(step.object, &value, size);
}

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
    if (seen.step.place == step.place && seen.step.object == step.object) return &seen;
  return nullptr;
}

bool Patient::is_new(Thread& thread, const Step& step) {
  Seen* const seen = find(thread, step);
  if (seen == nullptr) {
    thread.steps[thread.next++ % kLongestLoop] = {step, 0, false};
    return true;
  }
  if (thread.repeated < kLooksFrom || step.object == 0) return false;
  std::uint64_t value = 0;
  if (!look_at(step, value)) return true;
  const bool changed = seen->looked_at && seen->value != value;
  seen->value = value;
  seen->looked_at = true;
  seen->streak = thread.streak;
  return changed;
}

std::uint64_t Patient::draw_patience() {
  // Each doubling is a quarter as likely as the one before.
  const int zeros = __builtin_ctzll(random_.bits() | 1ull << (2 * kMostDoublings));
  return (loops_ == Loops::kRunThrough ? kPatienceWithHolds : kLeastPatience) << (zeros / 2);
}

// What was looked at belongs to the loop.
bool Patient::Places::has_one_of(const Thread& loop) const {
  for (const Seen& seen : loop.steps)
    for (std::uint32_t i = 0; i < count_ && is_of_loop(loop, seen); ++i)
      if (list_[i] == seen.step.place) return true;
  return false;
}

void Patient::Places::add(const Thread& loop) {
  for (const Seen& seen : loop.steps)
    if (is_of_loop(loop, seen) && count_ < kMost) list_[count_++] = seen.step.place;
}

// It has just been found to be in a loop.
void Patient::give_time(ThreadIndex index, Thread& thread) {
  if (brief_ || in_vain_.has_one_of(thread)) return;
  if (!decides_) {
    if (thread.drawn == 0) thread.drawn = draw_patience();
    thread.patience = thread.drawn > thread.suspicion ? thread.drawn : thread.suspicion + 1;
  } else if (random_.below(2) == 0) {
    thread.patience = kPersistence;
    persisting_ = index;
  }
}

void Patient::suspect(Thread& thread) {
  if (thread.repeated == kLeastSuspicion && loops_ != Loops::kWaitedOut &&
      loops_seen_.has_one_of(thread))
    thread.suspicion = thread.patience = kLeastSuspicion;
  if (thread.repeated == thread.suspicion && !loops_seen_.has_one_of(thread))
    loops_seen_.add(thread);
}

void Patient::follow_loop(ThreadIndex index, Thread& thread) {
  const bool had_time = thread.patience > thread.suspicion;
  if (thread.repeated != 0) suspect(thread);
  if (thread.repeated == 0) {
    if (had_time && persisting_ == index) loops_left_ |= abi::kLoopLeftByItself;
    ++thread.streak;
    thread.suspicion = thread.patience = suspicion_;
  } else if (thread.repeated == thread.suspicion) {
    give_time(index, thread);
  } else if (thread.repeated == thread.patience && had_time) {
    loops_left_ |= abi::kLoopNotLeft;
    in_vain_.add(thread);
  }
  const bool waits_no_more = thread.repeated == 0 || thread.repeated >= thread.patience;
  if (persisting_ == index && waits_no_more) persisting_ = kNobody;
}

// Fairness has ended the turn of the one that persists, whose rounds are long: those who run now may well
// do what it waits for, and its loop is not one that it leaves by itself.
void Patient::note_turn(const Occurrence& occurrence) {
  if (persisting_ != kNobody && occurrence.thread.index != persisting_ &&
      occurrence.event >= turn_began_ + kLongTurn) {
    Thread& thread = threads_.at(persisting_);
    loops_left_ |= abi::kLoopNotLeft;
    in_vain_.add(thread);
    thread.patience = thread.suspicion;
    ++waiting_;
    persisting_ = kNobody;
  }
  turn_began_ = occurrence.event;
}

void Patient::executed(const Candidate& candidate) {
  if (write_.step.object != 0) stir();
  Thread& thread = threads_.at(candidate.index);
  const bool waited = thread.patience != 0 && thread.repeated >= thread.patience;
  thread.repeated = is_new(thread, candidate.step) ? 0 : thread.repeated + 1;
  thread.ran = ++steps_;
  follow_loop(candidate.index, thread);
  const bool waits = thread.repeated >= thread.patience;
  waiting_ += static_cast<std::uint32_t>(waits) - static_cast<std::uint32_t>(waited);
  if (!waits) {
    ++progress_;
    note_write(candidate);
  } else if (!waited) {
    thread.stirred = kLongestLoop;  // what it looked at first may have been written since
    thread.stirred_by = {};
  } else if (thread.stirred > 0) {
    thread.stirred = conflict(thread.stirred_by, candidate.step) ? 0 : thread.stirred - 1;
  }
  thread.progress = progress_;
}

bool Patient::waits_for(const Thread& thread, const Step& step) const {
  if (thread.patience == 0 || thread.repeated < thread.patience) return false;
  for (const Seen& seen : thread.steps)
    if (is_of_loop(thread, seen) && conflict(seen.step, step)) return true;
  return false;
}

// Only what changes something matters to those who wait: the exchange of a lock that is taken does not.
void Patient::note_write(const Candidate& writer) {
  if (waiting_ == 0 || !may_write(writer.step)) return;
  for (ThreadIndex i = 0; i < threads_.room() && write_.step.object == 0; ++i)
    if (waits_for(threads_.at(i), writer.step)) write_.step = writer.step;
  write_.looked_at = write_.step.object != 0 && writer.step.size <= sizeof write_.value &&
                     look_at(writer.step, write_.value);
}

// The newest write, which has happened by now.
void Patient::stir() {
  const Seen write = write_;
  write_ = {};
  std::uint64_t value = 0;
  if (write.looked_at && look_at(write.step, value) && value == write.value) return;
  for (ThreadIndex i = 0; i < threads_.room(); ++i) {
    Thread& thread = threads_.at(i);
    if (!waits_for(thread, write.step)) continue;
    thread.stirred_by = thread.stirred == 0 ? write.step : Step{};
    thread.stirred = kLongestLoop;
  }
}

bool Patient::is_held(const Candidate& candidate) {
  Thread& thread = threads_.at(candidate.index);
  if (thread.patience == 0 || thread.repeated < thread.patience) return false;
  if (find(thread, candidate.step) == nullptr) return false;
  if (thread.progress == progress_) return true;
  const bool sees_all = loops_ != Loops::kWaitedOut && candidate.step.object != 0;
  return sees_all && thread.stirred == 0 && random_.below(kLetInOneIn) != 0;
}

void Patient::learn(const Occurrence& occurrence) {
  if (occurrence.kind == Occurrence::Kind::kExecuted) {
    executed(occurrence.thread);
    const Thread& thread = threads_.at(occurrence.thread.index);
    const bool in_loop = thread.repeated > thread.suspicion;
    if (in_loop && loops_ == Loops::kCountedOnce) return;
  }
  if (occurrence.kind == Occurrence::Kind::kSwitched) note_turn(occurrence);
  Wrapper::learn(occurrence);
}

// A strategy may prefer one of those who wait for ever to the one that waits no more, or only seemed to.
std::uint32_t Patient::longest_away(const Candidates& candidates) {
  std::uint32_t longest = 0;
  for (std::uint32_t i = 1; i < candidates.count; ++i)
    if (threads_.at(candidates.list[i].index).ran < threads_.at(candidates.list[longest].index).ran)
      longest = i;
  return longest;
}

std::uint32_t Patient::pick(const Candidates& candidates) {
  if (CLEW_UNLIKELY(persisting_ != kNobody))
    for (std::uint32_t i = 0; i < candidates.count; ++i)
      if (candidates.list[i].index == persisting_) return i;
  if (CLEW_LIKELY(waiting_ == 0)) return Wrapper::pick(candidates);
  if (write_.step.object != 0) stir();
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    if (is_held(candidates.list[i])) continue;
    rest_.at(count) = candidates.list[i];
    places_.at(count++) = i;
  }
  if (count == 0 && loops_ != Loops::kWaitedOut && random_.below(2) == 0)
    return longest_away(candidates);
  if (count == 0 || count == candidates.count) return Wrapper::pick(candidates);
  held_back_ = true;
  const bool current_first = candidates.current_first && places_.at(0) == 0;
  const std::uint32_t picked = count > 1 ? Wrapper::pick({&rest_.at(0), count, current_first}) : 0;
  return places_.at(picked < count ? picked : 0);
}

}  // namespace clew::rt
