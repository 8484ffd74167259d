// What the strategy is asked: who goes on at a scheduling point, and the choices beyond switches.
#include "runtime/arena.h"
#include "runtime/record/log.h"
#include "runtime/record/trace.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {
constexpr Clock kMostEvents = 200'000'000;
// A spinning thread is handed on sooner when every point costs a call.
constexpr std::uint64_t kFairSliceDeciding = 50'000;
}  // namespace

// --- deciding at every scheduling point ------------------------------------------------------

// A strategy may keep threads from getting on for ever where a fair scheduler would not: retries in
// step with each other, a spinning thread that is always preferred. A run that takes this long goes
// on without one, so that only what hangs under a fair scheduler counts as a hang.
void Scheduler::stop_deciding() {
  at_every_point_ = picks_ = false;
  choices_ = 0;
}

Clock Scheduler::last_decision() const {
  return control_->budget / 2 < kMostEvents ? control_->budget / 2 : kMostEvents;
}

std::uint64_t Scheduler::fair_slice() const {
  return at_every_point_ && control_->fair_slice > kFairSliceDeciding ? kFairSliceDeciding
                                                                      : control_->fair_slice;
}

// A thread that is disturbed attends to that first.
Candidate Scheduler::candidate_of(const Fiber& fiber) const {
  return {fiber.key, fiber.index, fiber.disturbed ? Step{} : fiber.step};
}

// The threads that can run, `running` first if it is one of them.
Candidates Scheduler::gather(Fiber* running) {
  if (candidates_room_ < living_ + 1) {
    candidates_room_ = (living_ + 1) * 2;
    candidates_ = static_cast<Candidate*>(arena_alloc(candidates_room_ * sizeof(Candidate)));
    candidate_fibers_ = static_cast<Fiber**>(arena_alloc(candidates_room_ * sizeof(Fiber*)));
  }
  std::uint32_t count = 0;
  enabled_ = 0;
  const auto add = [&](Fiber* fiber) {
    candidates_[count] = candidate_of(*fiber);
    candidate_fibers_[count++] = fiber;
    if (fiber->index < 64) enabled_ |= std::uint64_t{1} << fiber->index;
  };
  const auto can_run = [](const Fiber* f) {
    return f->disturbed || f->can_go_on == nullptr || f->can_go_on(*f);
  };
  const bool current_first = running != nullptr && can_run(running);
  if (current_first) add(running);
  for (Fiber* f = queue_.head(); f != nullptr; f = f->next)
    if (can_run(f)) add(f);
  if (count > 0) return {candidates_, count, current_first};
  // Each waits for a lock that is taken: let them find out.
  if (running != nullptr) add(running);
  for (Fiber* f = queue_.head(); f != nullptr; f = f->next) add(f);
  return {candidates_, count, running != nullptr};
}

void Scheduler::execute(const Fiber& thread, std::uint64_t enabled, std::uint8_t flags) {
  strategy_->executed(candidate_of(thread));
  g_trace.add(candidate_of(thread), clock_ + 1, own_event(thread), enabled, flags);
}

// The running thread stands before a scheduling point: who goes on?
void Scheduler::consult(Clock event) {
  ++points;
  if (queue_.empty()) return execute(*current, std::uint64_t{1} << (current->index & 63), 0);
  const Candidates candidates = gather(current);
  Fiber* to = pick(candidates);
  if (to == current) return execute(*current, enabled_, 0);
  execute(
      *to, enabled_,
      candidates.current_first ? abi::kTraceSwitched | abi::kTracePreempted : abi::kTraceSwitched);
  preempt(event, {Decision::Kind::kTo, to});
}

Fiber* Scheduler::pick(const Candidates& candidates) {
  const std::uint32_t answer = candidates.count > 1 ? strategy_->pick(candidates) : 0;
  return candidate_fibers_[answer < candidates.count ? answer : 0];
}

// Who goes on: the strategy's or the recorded answer, otherwise `otherwise`. `running` may go on
// too; null: it cannot.
Fiber* Scheduler::who_goes_on(Fiber* running, Fiber* otherwise, const Question& question) {
  if (picks_) {
    const Candidates candidates = gather(running);
    return running == nullptr && idle_yields_ > kMostPickedYields ? otherwise : pick(candidates);
  }
  if (!strategy_->follows()) return otherwise;
  const Fiber* wanted = strategy_->follow(abi::ChoiceKind::kPick, question);
  for (Fiber* f = queue_.head(); f != nullptr; f = f->next)
    if (f == wanted) return f;
  return otherwise;
}

// Takes the thread that is to run next off the queue. REQUIRES: the queue is not empty.
Fiber* Scheduler::take_next() {
  const Question question = next_question();
  Fiber* to = who_goes_on(nullptr, queue_.head(), question);
  if (to != queue_.head()) note_choice(abi::ChoiceKind::kPick, question, to->index, to->key);
  if (at_every_point_) execute(*to, enabled_, abi::kTraceSwitched);
  queue_.remove(to);
  return to;
}

void Scheduler::before_exit() {
  if (current->no_yield != 0) return;
  settle_clock();
  current->step = {};
  current->can_go_on = nullptr;
  const Question question = next_question();
  // Strategies by the clock let a program end when it wants to.
  const bool may_ask = at_every_point_ || strategy_->follows();
  Fiber* to = may_ask ? who_goes_on(current, current, question) : current;
  if (at_every_point_)
    execute(*to, enabled_, to == current ? 0 : abi::kTraceSwitched | abi::kTracePreempted);
  if (to == current) return;
  note_choice(abi::ChoiceKind::kPick, question, to->index, to->key);
  queue_.remove(to);
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(to, abi::SliceEnd::kYielded);
}

// --- choices beyond switches -----------------------------------------------------------------

// Questions are numbered whether or not anybody is asked, so that an answer means the same in a
// replay.
std::uint32_t Scheduler::next_ordinal(Clock event) {
  if (choice_clock_ != event) {
    choice_clock_ = event;
    choice_ordinal_ = 0;
  }
  return choice_ordinal_++;
}

// REQUIRES: the clock is settled.
Question Scheduler::next_question() {
  Standing& standing = this->standing();
  return {clock_ + 1, next_ordinal(clock_ + 1), standing.own_event, standing.questions++};
}

void Scheduler::note_choice(abi::ChoiceKind kind, const Question& question, std::uint64_t value,
                            abi::ThreadKey to) {
  g_log.choice(question.event, question.ordinal, kind, value);
  if (CLEW_UNLIKELY(g_trace.wants_decisions()))
    g_trace.decision(*current, question, static_cast<std::uint8_t>(1 + static_cast<unsigned>(kind)),
                     to);
}

std::uint32_t Scheduler::choose(abi::ChoiceKind kind, std::uint32_t count) {
  if (current->no_yield != 0) return 0;
  settle_clock();
  return ask(kind, count, next_question());
}

// The question belongs to the event that has just been passed, as the last one before it: a replay,
// which comes here only where it has to, gives all others the same numbers without it. A trace
// leads here where the run would not have come.
bool Scheduler::weak_cas_fails() {
  if (current->no_yield != 0 || !has_company()) return false;
  if (only_traced_ || (!at_every_point_ && !strategy_->follows())) return false;
  return ask(abi::ChoiceKind::kCas, 2, {clock_, next_ordinal(clock_), own_event() - 1, 0}) != 0;
}

std::uint32_t Scheduler::ask(abi::ChoiceKind kind, std::uint32_t count, const Question& question) {
  questions |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
  if (!(choices_ & 1u << static_cast<unsigned>(kind))) return 0;
  std::uint32_t answer = 0;
  if (strategy_->follows()) {
    answer = strategy_->follow(kind, question) != nullptr ? 1 : 0;
  } else {
    answer = strategy_->choose(kind, count);
  }
  if (answer == 0 || answer >= count) return 0;
  note_choice(kind, question, answer, 0);
  return answer;
}

}  // namespace clew::rt
