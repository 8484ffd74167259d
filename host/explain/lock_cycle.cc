#include "host/explain/lock_cycle.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "host/explain/sync_calls.h"
#include "host/schedule/stream.h"

namespace clew {
namespace {

// A lock that is waited for at the end of the run.
struct Blocked {
  std::uint64_t lock = 0;
  const OutsideCall* wait = nullptr;
  std::uint16_t holder = 0;
  const OutsideCall* taken = nullptr;  // by the holder
};

bool takes(const OutsideCall& call, std::uint64_t lock) {
  const SyncCall what = sync_call(call);
  return what.kind == SyncKind::kLock && what.step == SyncStep::kTakes && what.object == lock;
}

std::map<std::uint16_t, Blocked> find_blocked(const RunTrace& run) {
  std::map<std::uint16_t, Blocked> blocked;
  std::map<std::uint64_t, const OutsideCall*> held;
  for (const OutsideCall& call : run.outside_calls()) {
    const SyncCall what = sync_call(call);
    if (what.kind != SyncKind::kLock) continue;
    const std::uint16_t thread = run.steps()[call.step].thread;
    if (what.step == SyncStep::kReleases)
      held.erase(what.object);
    else if (call.back != kNoStep)
      held[what.object] = &call;
    else if (run.thread(thread).back() == call.step)
      blocked[thread] = {what.object, &call, 0, nullptr};
  }
  for (auto entry = blocked.begin(); entry != blocked.end();) {
    const auto found = held.find(entry->second.lock);
    if (found == held.end()) {
      entry = blocked.erase(entry);
      continue;
    }
    entry->second.taken = found->second;
    entry->second.holder = run.steps()[found->second->step].thread;
    ++entry;
  }
  return blocked;
}

// Of the cycle's locks the one that was taken last, with the thread that waits for it.
std::optional<std::pair<std::uint16_t, Blocked>> last_of_cycle(const RunTrace& run) {
  const auto blocked = find_blocked(run);
  for (const auto& [start, first] : blocked) {
    std::optional<std::pair<std::uint16_t, Blocked>> last;
    std::uint16_t at = start;
    for (std::size_t i = 0; i < blocked.size(); ++i) {
      const auto found = blocked.find(at);
      if (found == blocked.end()) break;
      if (!last || found->second.taken->step > last->second.taken->step) last = *found;
      at = found->second.holder;
      if (at == start && i > 0) return last;
    }
  }
  return std::nullopt;
}

// How often the thread has come to the lock, that call included.
std::uint64_t times_until(const RunTrace& run, const OutsideCall& call, std::uint64_t lock) {
  std::uint64_t count = 0;
  for (const OutsideCall& one : run.outside_calls()) {
    if (one.step > call.step) break;
    count += run.steps()[one.step].thread == run.steps()[call.step].thread && takes(one, lock);
  }
  return count;
}

// When the thread has taken the lock for this time; kNoStep: never.
StepIndex taken_at(const Laboratory::Ran& ran, const std::string& thread, std::uint64_t lock,
                   std::uint64_t time) {
  std::uint64_t count = 0;
  for (const OutsideCall& one : ran.trace->outside_calls())
    if (ran.threads[ran.trace->steps()[one.step].thread] == thread && takes(one, lock) &&
        ++count == time)
      return one.back == kNoStep ? kNoStep : one.step;
  return kNoStep;
}

}  // namespace

std::optional<std::uint64_t> passes_if_taken_in_turn(Laboratory& laboratory,
                                                     const Replay& failing) {
  TracedPair& pair = laboratory.pair();
  const RunTrace& run = pair.trace(kFailing);
  const auto last = last_of_cycle(run);
  const auto schedule = to_schedule(failing.plan.follow);
  if (!last || !schedule || !laboratory.keeps_traces()) return std::nullopt;
  const auto& [waiting, blocked] = *last;
  const std::string& waits = pair.run(kFailing).threads()[waiting];
  const std::string& holds = pair.run(kFailing).threads()[blocked.holder];
  const std::uint64_t wait_time = times_until(run, *blocked.wait, blocked.lock);
  const std::uint64_t taken_time = times_until(run, *blocked.taken, blocked.lock);
  const auto id = ThreadId::parse(waits);
  if (!id) return std::nullopt;
  const std::uint64_t clock = run.clock(blocked.taken->step);
  // The call is a point of its own, or has one before it.
  for (const std::uint64_t at : {clock + 1, clock}) {
    if (!laboratory.may_go_on() || at == 0) return std::nullopt;
    Schedule other;
    for (const Switch& item : schedule->switches)
      if (item.clock.value < at) other.switches.push_back(item);
    for (const Choice& choice : schedule->choices)
      if (choice.clock.value < at) other.choices.push_back(choice);
    other.switches.push_back({{at}, *id});
    const auto ran = laboratory.run({kFailing, {}, true, other});
    if (!ran || ran->verdict != Verdict::kPass || ran->trace == nullptr) continue;
    const StepIndex first = taken_at(*ran, waits, blocked.lock, wait_time);
    const StepIndex second = taken_at(*ran, holds, blocked.lock, taken_time);
    if (first != kNoStep && second != kNoStep && first < second) return clock;
  }
  return std::nullopt;
}

}  // namespace clew
