#include "host/explain/other_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <vector>

#include "host/explain/memory_history.h"
#include "host/explain/sync_calls.h"
#include "host/isolate/pair.h"
#include "host/schedule/stream.h"

namespace clew {
namespace {

// An event as other runs have it: the how-manieth execution of the instruction by the thread.
struct Place {
  std::string thread;
  std::uint64_t address = 0;
  std::uint64_t time = 0;
};

bool executes(const RunTrace& run, StepIndex step, std::uint64_t address) {
  const auto& code = run.code(step);
  return std::any_of(code.begin(), code.begin() + run.steps()[step].executed,
                     [&](const Instruction& one) { return one.address == address; });
}

Place place_of(TracedPair& pair, WhichRun side, Instance at) {
  const RunTrace& run = pair.trace(side);
  const std::uint16_t thread = run.steps()[at.step].thread;
  Place place{pair.run(side).threads()[thread], run.instruction(at).address};
  for (const StepIndex step : run.thread(thread)) {
    place.time += executes(run, step, place.address);
    if (step == at.step) break;
  }
  return place;
}

StepIndex find(const Laboratory::Ran& ran, const Place& place) {
  const auto thread =
      static_cast<std::size_t>(std::ranges::find(ran.threads, place.thread) - ran.threads.begin());
  if (thread >= ran.trace->thread_count()) return kNoStep;
  std::uint64_t time = 0;
  for (const StepIndex step : ran.trace->thread(thread))
    if (executes(*ran.trace, step, place.address) && ++time == place.time) return step;
  return kNoStep;
}

// Events of the thread up to this clock. Each returns from the runtime with a clock of its own.
std::uint64_t own_events(const RunTrace& run, std::uint16_t thread, std::uint64_t clock) {
  std::uint64_t count = 0;
  std::uint64_t last = 0;
  for (const RunTrace::Mark& mark : run.marks()) {
    if (mark.clock > clock || mark.step >= run.steps().size()) break;
    count += mark.clock > last && run.steps()[mark.step].thread == thread;
    last = std::max(last, mark.clock);
  }
  return count;
}

// The two events of the failing run that come in the other order in the passing one.
struct Order {
  Instance first;
  Instance second;          // not valid: the failing run ends before it
  Instance second_passing;  // the same in the passing run
};

// Of two others who both write before the use, the one that comes last is another in the passing run.
std::optional<Order> order_of_writers(TracedPair& pair, const Root& root) {
  if (is_unseen(root.from_failing) || is_unseen(root.from_passing)) return std::nullopt;
  const Instance last = root.later.valid() ? root.later : instance_of(root.from_failing);
  const Instance last_there = instance_of(root.from_passing);
  const Instance lost = pair.alignment().counterpart(kPassing, last_there);
  const Instance first_there = pair.alignment().counterpart(kFailing, last);
  const RunTrace& run = pair.trace(kFailing);
  if (!lost.valid() || !first_there.valid() || last < lost || last_there < first_there ||
      run.steps()[lost.step].thread == run.steps()[last.step].thread)
    return std::nullopt;
  return Order{lost, last, first_there};
}

std::optional<Order> find_order(TracedPair& pair, const Root& root) {
  if (root.use_failing == kNoNode || root.use_passing == kNoNode) return std::nullopt;
  const RunTrace& failing = pair.trace(kFailing);
  const Instance use = instance_of(root.use_failing);
  const auto thread = [&](WhichRun side, Instance at) {
    return pair.run(side).threads()[pair.trace(side).steps()[at.step].thread];
  };
  // Too early: the passing run has read what another thread wrote before.
  if (!is_unseen(root.from_passing)) {
    const Instance wrote = instance_of(root.from_passing);
    const Instance here = pair.alignment().counterpart(kPassing, wrote);
    if (thread(kPassing, wrote) != thread(kFailing, use) && (!here.valid() || use < here))
      return Order{use, here, wrote};
  }
  // Too late: another thread has written before, which in the passing run it does behind the use.
  if (!is_unseen(root.from_failing)) {
    const Instance wrote = instance_of(root.from_failing);
    const Instance there = pair.alignment().counterpart(kFailing, wrote);
    const Instance use_there = instance_of(root.use_passing);
    if (thread(kFailing, wrote) != thread(kFailing, use) && wrote < use &&
        failing.clock(wrote.step) < failing.clock(use.step) &&
        (!there.valid() || use_there < there))
      return Order{wrote, use, use_there};
  }
  return order_of_writers(pair, root);
}

// The clocks at which the first event's thread may be held up, in the order in which they are tried. If the second needs a lock that is held
// at the first, it cannot come before that but as a whole critical section before the other.
std::vector<std::uint64_t> clocks_before(TracedPair& pair, const Order& order) {
  const RunTrace& run = pair.trace(kFailing);
  const HeldLocks later = order.second.valid()
                              ? locks_at(run, order.second.step)
                              : locks_at(pair.trace(kPassing), order.second_passing.step);
  const auto common = excluding(locks_at(run, order.first.step), later);
  std::map<std::uint64_t, std::uint64_t> taken;  // when last, by the lock
  for (const OutsideCall& call : run.outside_calls()) {
    if (call.step >= order.first.step) break;
    const SyncCall what = sync_call(call);
    if (run.steps()[call.step].thread == run.steps()[order.first.step].thread &&
        what.kind == SyncKind::kLock && what.step == SyncStep::kTakes &&
        common.contains(what.object))
      taken[what.object] = run.clock(call.step);
  }
  if (taken.empty()) return {run.clock(order.first.step)};
  const std::uint64_t clock = std::ranges::min(std::views::values(taken));
  // The call is a point of its own, or has one before it.
  return {clock + 1, clock};
}

// Of a run with the failing schedule, changed so that the second comes before the first, whose thread is held up at that clock. Nothing: it was
// not seen to come so.
std::optional<Verdict> flip_at(Laboratory& laboratory, const Replay& failing, const Order& order,
                               std::uint64_t first_clock) {
  TracedPair& pair = laboratory.pair();
  if (!laboratory.keeps_traces() || !laboratory.may_go_on()) return std::nullopt;
  const auto schedule = to_schedule(failing.plan.follow);
  if (!schedule) return std::nullopt;
  const RunTrace& run = pair.trace(kFailing);
  const RunTrace& other_run = pair.trace(kPassing);
  const Place first = place_of(pair, kFailing, order.first);
  const bool there = order.second.valid();
  const Place second = there ? place_of(pair, kFailing, order.second)
                             : place_of(pair, kPassing, order.second_passing);
  const auto& ids = pair.run(kFailing).threads();
  const auto thread =
      static_cast<std::uint16_t>(std::ranges::find(ids, second.thread) - ids.begin());
  Flip flip{first_clock, there ? run.clock(order.second.step) : 0, 0};
  if (flip.first_clock == 0) return std::nullopt;
  const std::uint64_t before = own_events(run, thread, flip.first_clock - 1);
  std::uint64_t until = 0;
  if (there) {
    until = own_events(run, thread, flip.second_clock);
  } else {
    const StepIndex step = order.second_passing.step;
    until = own_events(other_run, other_run.steps()[step].thread, other_run.clock(step));
  }
  if (until <= before) return std::nullopt;
  flip.events = until - before;
  const auto one = ThreadId::parse(first.thread);
  const auto other_one = ThreadId::parse(second.thread);
  if (!one || !other_one) return std::nullopt;
  const auto ran = laboratory.run({kFailing, {}, true, flipped(*schedule, flip, *one, *other_one)});
  if (!ran || ran->trace == nullptr) return std::nullopt;
  const StepIndex a = find(*ran, first);
  const StepIndex b = find(*ran, second);
  const bool came_so = b != kNoStep && (a == kNoStep || b < a);
  return came_so ? std::optional(ran->verdict) : std::nullopt;
}

std::optional<Verdict> flip_order(Laboratory& laboratory, const Replay& failing,
                                  const std::optional<Order>& order) {
  if (!order) return std::nullopt;
  for (const std::uint64_t clock : clocks_before(laboratory.pair(), *order))
    if (const auto verdict = flip_at(laboratory, failing, *order, clock)) return verdict;
  return std::nullopt;
}

}  // namespace

bool passes_in_other_order(Laboratory& laboratory, const Replay& failing, const Root& root) {
  return flip_order(laboratory, failing, find_order(laboratory.pair(), root)) == Verdict::kPass;
}

std::optional<Verdict> verdict_with_later_first(Laboratory& laboratory, const Replay& failing,
                                                Instance first, Instance second) {
  return flip_order(laboratory, failing, Order{first, second, {}});
}

}  // namespace clew
