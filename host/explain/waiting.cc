#include "host/explain/waiting.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "host/explain/root_cause.h"

namespace clew {
namespace {

enum class SyncKind : std::uint8_t {
  kNone,
  kLock,
  kCondition,
  kSemaphore,
  kFutex,
  kBarrier,
  kJoin
};
enum class SyncStep : std::uint8_t { kNone, kTakes, kReleases, kWaits, kWakes };

struct SyncCall {
  SyncKind kind = SyncKind::kNone;
  SyncStep step = SyncStep::kNone;
  std::uint64_t object = 0;
};

constexpr std::uint64_t kFutexCall = 202;
constexpr std::uint64_t kFutexCommand = 0x7f;

bool is_wait_on_futex(std::uint64_t operation) {
  const std::uint64_t command = operation & kFutexCommand;
  return command == 0 || command == 9;  // FUTEX_WAIT, FUTEX_WAIT_BITSET
}

SyncCall sync_call(const OutsideCall& call) {
  const std::string_view name = call.name;
  const auto& arguments = call.registers.arguments;
  const bool failed = call.back != kNoStep && (call.result & UINT32_MAX) != 0;
  for (const std::string_view prefix :
       {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "mtx_"})
    if (name.starts_with(prefix)) {
      const std::string_view what = name.substr(prefix.size());
      if (what == "unlock") return {SyncKind::kLock, SyncStep::kReleases, arguments[0]};
      if (what.ends_with("lock") && !failed)
        return {SyncKind::kLock, SyncStep::kTakes, arguments[0]};
    }
  for (const std::string_view prefix : {"pthread_cond_", "cnd_"})
    if (name.starts_with(prefix)) {
      const std::string_view what = name.substr(prefix.size());
      if (what.ends_with("wait")) return {SyncKind::kCondition, SyncStep::kWaits, arguments[0]};
      if (what == "signal" || what == "broadcast")
        return {SyncKind::kCondition, SyncStep::kWakes, arguments[0]};
    }
  if (name == "sem_wait" || name == "sem_timedwait" || name == "sem_clockwait")
    return {SyncKind::kSemaphore, SyncStep::kWaits, arguments[0]};
  if (name == "sem_post") return {SyncKind::kSemaphore, SyncStep::kWakes, arguments[0]};
  if (name == "pthread_barrier_wait") return {SyncKind::kBarrier, SyncStep::kWaits, arguments[0]};
  if (name.starts_with("pthread_") && name.contains("join"))
    return {SyncKind::kJoin, SyncStep::kWaits, arguments[0]};
  if (name == "thrd_join") return {SyncKind::kJoin, SyncStep::kWaits, arguments[0]};
  if (name == "syscall" && arguments[0] == kFutexCall)
    return {SyncKind::kFutex, is_wait_on_futex(arguments[2]) ? SyncStep::kWaits : SyncStep::kWakes,
            arguments[1]};
  return {};
}

class Finder {
 public:
  Finder(TracedPair& pair, Naming& naming)
      : pair_(pair), naming_(naming), run_(pair.trace(kFailing)) {}

  Waiting find() {
    for (const OutsideCall& call : run_.outside_calls())
      if (call.back == kNoStep && is_last(call)) blocked_[thread_of(call)] = &call;
    std::vector<std::uint16_t> others;
    for (const auto& [thread, call] : blocked_)
      (sync_call(*call).kind == SyncKind::kJoin ? others : threads_).push_back(thread);
    for (const std::uint16_t thread : threads_) add(thread);
    Cause& cause = result_.cause;
    cause.pattern = CausePattern::kWaitsForever;
    cause.cycle = has_cycle();
    const bool wakes = std::ranges::any_of(threads_, [&](std::uint16_t thread) {
      const SyncKind kind = sync_call(*blocked_[thread]).kind;
      return kind == SyncKind::kCondition || kind == SyncKind::kSemaphore ||
             kind == SyncKind::kFutex;
    });
    cause.kind = cause.cycle || !wakes ? CauseKind::kDeadlock : CauseKind::kLostWakeup;
    for (const std::uint16_t thread : others) add_node(*blocked_[thread]);
    if (cause.waits.empty()) cause.pattern = CausePattern::kNone;
    tell();
    return std::move(result_);
  }

 private:
  std::uint16_t thread_of(const OutsideCall& call) const { return run_.steps()[call.step].thread; }
  Instance at(const OutsideCall& call) const {
    return {call.step, run_.steps()[call.step].executed - 1u};
  }
  bool is_last(const OutsideCall& call) const {
    return run_.thread(thread_of(call)).back() == call.step;
  }
  void add_node(const OutsideCall& call) { result_.calls.push_back(node_of(at(call))); }

  CauseEvent event(const OutsideCall& call) {
    CauseEvent made = event_of(pair_, naming_, kFailing, at(call), 0, 0);
    made.call = call.name;
    return made;
  }

  // The last of the thread's calls that took the lock, if it has not released it since.
  const OutsideCall* taken_by(std::size_t thread, std::uint64_t lock) const {
    const OutsideCall* taken = nullptr;
    for (const OutsideCall& call : run_.outside_calls()) {
      if (thread_of(call) != thread || call.back == kNoStep) continue;
      const SyncCall what = sync_call(call);
      if (what.kind != SyncKind::kLock || what.object != lock) continue;
      taken = what.step == SyncStep::kTakes ? &call : nullptr;
    }
    return taken;
  }

  void add(std::uint16_t thread) {
    const OutsideCall& call = *blocked_[thread];
    const SyncCall what = sync_call(call);
    WaitFact fact;
    fact.wait = event(call);
    if (what.object != 0) fact.object = naming_.sync_object(kFailing, at(call), what.object);
    if (what.kind == SyncKind::kLock) {
      for (std::size_t other = 0; other < run_.thread_count(); ++other)
        if (const OutsideCall* taken = taken_by(other, what.object)) {
          fact.holder = pair_.run(kFailing).threads()[other];
          fact.taken = event(*taken);
          holders_[thread] = static_cast<std::uint16_t>(other);
          events_.push_back(taken);
        }
    } else {
      for (const OutsideCall& one : run_.outside_calls()) {
        const SyncCall wake = sync_call(one);
        if (wake.step != SyncStep::kWakes || wake.object != what.object) continue;
        fact.signal = event(one);
        fact.before = one.step < call.step;
        events_.push_back(&one);
      }
    }
    if (!fact.taken) {
      // What the calls do not show, the run has reported: who executes the function of a pthread_once.
      for (const WaitReport& report : pair_.result(kFailing).reports.waits) {
        if (report.thread != thread || !report.holder) continue;
        fact.holder = pair_.run(kFailing).threads()[*report.holder];
        holders_[thread] = static_cast<std::uint16_t>(*report.holder);
      }
    }
    const Instance there = pair_.alignment().counterpart(kFailing, at(call));
    if (there.valid()) {
      const OutsideCall* same = pair_.trace(kPassing).outside_call(there.step);
      fact.returns = same != nullptr && same->back != kNoStep;
    }
    events_.push_back(&call);
    result_.cause.waits.push_back(std::move(fact));
    add_node(call);
  }

  bool has_cycle() const {
    for (const auto& [start, first] : holders_) {
      std::uint16_t next = first;
      for (std::size_t i = 0; i <= holders_.size(); ++i) {
        if (next == start) return true;
        const auto on = holders_.find(next);
        if (on == holders_.end()) break;
        next = on->second;
      }
    }
    return false;
  }

  // The events in the order in which they came.
  void tell() {
    std::ranges::sort(events_, {}, &OutsideCall::step);
    const auto last = std::unique(events_.begin(), events_.end());
    events_.erase(last, events_.end());
    constexpr std::size_t kMost = 10;
    if (events_.size() > kMost) events_.erase(events_.begin(), events_.end() - kMost);
    for (const OutsideCall* call : events_) {
      const SyncCall what = sync_call(*call);
      StoryStep step;
      step.thread = pair_.run(kFailing).threads()[thread_of(*call)];
      const CodePlace& place = pair_.place(kFailing, at(*call));
      step.at = {place.file, place.line, place.function};
      step.text = naming_.text(place);
      step.clock = run_.clock(call->step);
      if (what.object != 0) step.variable = naming_.sync_object(kFailing, at(*call), what.object);
      const bool waits = call->back == kNoStep;
      step.sync = waits                           ? SyncEvent::kWaitsForever
                  : what.step == SyncStep::kTakes ? SyncEvent::kTaken
                                                  : SyncEvent::kSignalled;
      step.failing = waits                           ? "waits for ever"
                     : what.step == SyncStep::kTakes ? "taken"
                                                     : "signalled";
      const Instance there = pair_.alignment().counterpart(kFailing, at(*call));
      step.only_failing = !there.valid();
      if (waits && there.valid()) {
        const OutsideCall* same = pair_.trace(kPassing).outside_call(there.step);
        step.returns_in_passing = same != nullptr && same->back != kNoStep;
        step.passing = step.returns_in_passing ? "continues" : "waits for ever";
      }
      result_.story.push_back(std::move(step));
    }
  }

  TracedPair& pair_;
  Naming& naming_;
  const RunTrace& run_;
  std::map<std::uint16_t, const OutsideCall*> blocked_;
  std::vector<std::uint16_t> threads_;  // blocked, and not only for the end of others
  std::map<std::uint16_t, std::uint16_t> holders_;
  std::vector<const OutsideCall*> events_;
  Waiting result_;
};

}  // namespace

Waiting find_waiting(TracedPair& pair, Naming& naming) { return Finder(pair, naming).find(); }

}  // namespace clew
