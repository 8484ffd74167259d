// What the strategy is asked: who runs at a scheduling point, and the choices beyond switches.
#include "clew_abi/trace.h"
#include "runtime/random.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

// Events after which a strategy is no longer asked. Chosen, not measured: about the longest run
// that somebody would wait for with every event looked at.
constexpr Clock kMostEvents = 200'000'000;
// A spinning thread is preempted sooner when every point costs a call. Chosen, not measured.
constexpr std::uint64_t kFairSliceDeciding = 50'000;
// Voluntary yields in a row, after which those who yield run in turn, whatever the strategy: it may
// prefer some who spin for ever to the one that they wait for. Chosen, not measured.
constexpr std::uint64_t kMostPickedYields = 1000;

ThreadName name_of(const Fiber& fiber) { return {fiber.key, fiber.index}; }

}  // namespace

// --- deciding at every scheduling point ----------------------------------------------------------

Clock Scheduler::last_decision() const {
  return control_->budget / 2 < kMostEvents ? control_->budget / 2 : kMostEvents;
}

// Of varying length, up to a quarter less, lest a loop be in step with it: one that is always
// preempted while it holds the lock that the others wait for would keep it for ever. How long
// depends on where the slice begins, not on who ended the one before: a script may have.
std::uint64_t Scheduler::fair_slice() const {
  const std::uint64_t most = at_every_point() && control_->fair_slice > kFairSliceDeciding
                                 ? kFairSliceDeciding
                                 : control_->fair_slice;
  std::uint64_t state = slice_begin_;
  return most - (static_cast<unsigned __int128>(most / 4) * split_mix(state) >> 64);
}

// By the clock, and by fairness. A replay follows what was recorded.
Decision Scheduler::decide(Clock event) {
  const Decision decision = decider_.strategy().preempt(event);
  const bool is_fair = (control_->flags & abi::kFlagReplay) || event < slice_begin_ + fair_slice();
  if (decision.kind != Decision::Kind::kStay || is_fair) return decision;
  slice_begin_ = event;
  return queue_.empty() ? Decision{} : Decision{Decision::Kind::kNext};
}

void Scheduler::passed_point(const Fiber& thread, std::uint64_t enabled, std::uint8_t flags) {
  const Candidate candidate = candidate_of(thread);
  decider_.strategy().learn({Occurrence::Kind::kExecuted, candidate});
  if (CLEW_LIKELY(!g_listeners.hears_of(kTopicPoints))) return;
  g_listeners.at(
      {name_of(thread), candidate.step, clock_.settled() + 1, own_event(thread), enabled, flags});
}

// The running thread stands before a scheduling point: who runs?
void Scheduler::consult(Clock event) {
  ++counts.points;
  if (queue_.empty()) return passed_point(*current, std::uint64_t{1} << (current->index & 63), 0);
  // A trace tells who else could have run.
  if (!g_listeners.hears_of(kTopicPoints) && decider_.continues(*current))
    return passed_point(*current, 0, 0);
  const Candidates candidates = gather(current);
  Fiber* to = decider_.pick(candidates);
  if (to == current) return passed_point(*current, decider_.enabled(), 0);
  passed_point(
      *to, decider_.enabled(),
      candidates.current_first ? abi::kTraceSwitched | abi::kTracePreempted : abi::kTraceSwitched);
  preempt(event, {Decision::Kind::kTo, to->index});
}

// The strategy's or the recorded answer, otherwise `otherwise`. `running` may continue too; null:
// it cannot.
Fiber* Scheduler::who_runs(Fiber* running, Fiber* otherwise, const Question& question) {
  if (decider_.picks()) {
    const Candidates candidates = gather(running);
    const bool in_turn = running == nullptr && idle_yields_ > kMostPickedYields;
    return in_turn ? otherwise : decider_.pick(candidates);
  }
  if (!decider_.follows()) return otherwise;
  const Choice answer = decider_.strategy().choose(question);
  Fiber* wanted = answer.kind == Choice::Kind::kThread ? threads.fiber(answer.value) : nullptr;
  return wanted != nullptr && queue_.has(wanted) ? wanted : otherwise;
}

// Takes the thread that is to run next off the queue. REQUIRES: the queue is not empty.
Fiber* Scheduler::take_next() {
  const Question question = next_question(abi::ChoiceKind::kPick);
  Fiber* to = who_runs(nullptr, queue_.head(), question);
  if (to != queue_.head()) note_choice(question, to->index, name_of(*to));
  if (at_every_point()) passed_point(*to, decider_.enabled(), abi::kTraceSwitched);
  queue_.remove(to);
  return to;
}

void Scheduler::before_exit() {
  if (current->no_yield != 0) return;
  clock_.settle();
  // A step without a place: so strategies know it.
  reach_uncounted({.place = current->reached.place});
  const Question question = next_question(abi::ChoiceKind::kPick);
  // Strategies by the clock let a program end when it wants to.
  const bool may_ask = at_every_point() || decider_.follows();
  Fiber* to = may_ask ? who_runs(current, current, question) : current;
  if (at_every_point())
    passed_point(*to, decider_.enabled(),
                 to == current ? 0 : abi::kTraceSwitched | abi::kTracePreempted);
  if (to == current) return;
  note_choice(question, to->index, name_of(*to));
  queue_.remove(to);
  yield_to(to);
}

// --- choices beyond switches ---------------------------------------------------------------------

// REQUIRES: the clock is settled.
Question Scheduler::next_question(abi::ChoiceKind kind, std::uint32_t count) {
  SinceOwnEvent& since = since_own_event();
  const Clock event = clock_.settled() + 1;
  return {kind, count, event, decider_.next_ordinal(event), since.own_event, since.questions++};
}

void Scheduler::note_choice(const Question& question, std::uint64_t value, ThreadName to) {
  g_hash.fold(0xc801ce ^ question.event << 16 ^ value << 8 ^
              static_cast<std::uint64_t>(question.kind));
  g_listeners.decided({.thread = name_of(*current),
                       .place = current->reached.place,
                       .is_preemption = false,
                       .kind = question.kind,
                       .event = question.event,
                       .ordinal = question.ordinal,
                       .own_event = question.own_event,
                       .own_ordinal = question.own_ordinal,
                       .to = to,
                       .value = value});
}

bool Scheduler::happens(abi::ChoiceKind kind) {
  if (current->no_yield != 0) return false;
  surroundings_->before_choice();
  clock_.settle();
  return ask(next_question(kind)) != 0;
}

bool Scheduler::sleep_is_over_at_once() {
  constexpr abi::ChoiceKind kKind = abi::ChoiceKind::kTimeout;
  if (!decider_.strategy().manner.short_sleeps || !decider_.asks(kKind)) return false;
  if (current->no_yield != 0) return false;
  surroundings_->before_choice();
  clock_.settle();
  note_choice(next_question(kKind), 1, {});
  return true;
}

// The question belongs to the event that has just been passed, as the last one before it: a replay,
// which comes here only where it has to, gives all others the same numbers without it. Listening
// leads here where the run would not have come.
bool Scheduler::weak_cas_fails() {
  if (current->no_yield != 0 || !threads.has_company()) return false;
  if (clock_.only_listened_to() || (!at_every_point() && !decider_.follows())) return false;
  const Clock event = clock_.settled();
  return ask({abi::ChoiceKind::kCas, 2, event, decider_.next_ordinal(event), own_number(event),
              0}) != 0;
}

std::uint32_t Scheduler::ask(const Question& question) {
  decider_.note_arisen(question.kind);
  if (!decider_.asks(question.kind)) return 0;
  const Choice answer = decider_.strategy().choose(question);
  if (answer.kind == Choice::Kind::kDefault || answer.value == 0 || answer.value >= question.count)
    return 0;
  note_choice(question, answer.value, {});
  return answer.value;
}

// The longest waiting, unless the strategy chooses another.
Wait* Scheduler::waiter_to_wake(const void* object, std::uint32_t bits) {
  Wait* const first = waits_.first(object, bits);
  if (first == nullptr || waits_.next(*first, object, bits) == nullptr) return first;
  clock_.settle();
  Question question = next_question(abi::ChoiceKind::kWake);
  decider_.note_arisen(question.kind);
  if (!decider_.asks(question.kind)) return first;
  if (!decider_.follows()) {
    question.count = 0;
    for (Wait* w = first; w != nullptr; w = waits_.next(*w, object, bits)) ++question.count;
  }
  Wait* const chosen = chosen_waiter(first, object, bits, question);
  if (chosen != first) note_choice(question, chosen->fiber->index, name_of(*chosen->fiber));
  return chosen;
}

Wait* Scheduler::chosen_waiter(Wait* first, const void* object, std::uint32_t bits,
                               const Question& question) {
  const Choice answer = decider_.strategy().choose(question);
  std::uint32_t position = 0;
  for (Wait* w = first; w != nullptr; w = waits_.next(*w, object, bits), ++position) {
    const bool is_it = answer.kind == Choice::Kind::kThread     ? w->fiber->index == answer.value
                       : answer.kind == Choice::Kind::kPosition ? position == answer.value
                                                                : true;
    if (is_it) return w;
  }
  return first;
}

}  // namespace clew::rt
