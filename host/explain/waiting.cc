#include "host/explain/waiting.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "host/explain/cause_event.h"
#include "host/explain/sync_calls.h"

namespace clew {
namespace {

constexpr std::array<std::string_view, 14> kDescriptorWaits = {
    "poll",  "ppoll", "select",   "pselect", "epoll_wait", "epoll_pwait", "read",
    "readv", "recv",  "recvfrom", "recvmsg", "accept",     "accept4",     "eventfd_read"};
constexpr std::array<std::string_view, 9> kDescriptorWakes = {"write",  "writev",   "send",
                                                              "sendto", "sendmsg",  "eventfd_write",
                                                              "close",  "shutdown", "connect"};

class Finder {
 public:
  Finder(TracedPair& pair, Naming& naming)
      : pair_(pair), naming_(naming), run_(pair.trace(kFailing)) {}

  Waiting find() {
    for (const OutsideCall& call : run_.outside_calls())
      if (call.back == kNoStep && (is_last(call) || waits_in(call)))
        blocked_[thread_of(call)] = &call;
    std::vector<std::uint16_t> others;
    for (const auto& [thread, call] : blocked_)
      (sync_call(*call).kind == SyncKind::kJoin ? others : threads_).push_back(thread);
    for (const std::uint16_t thread : threads_) add(thread);
    for (const std::uint16_t thread : threads_) add_missing(*blocked_[thread]);
    for (const std::uint16_t thread : threads_) add_node(*blocked_[thread]);
    Cause& cause = result_.cause;
    cause.pattern = CausePattern::kWaitsForever;
    cause.cycle = has_cycle();
    const bool wakes = std::ranges::any_of(threads_, [&](std::uint16_t thread) {
      const SyncKind kind = sync_call(*blocked_[thread]).kind;
      return kind == SyncKind::kCondition || kind == SyncKind::kSemaphore ||
             kind == SyncKind::kFutex || kind == SyncKind::kSignal ||
             is_one_of(kDescriptorWaits, blocked_[thread]->name);
    });
    result_.stops_others = stops_others();
    if (tell_freed()) return std::move(result_);
    cause.kind = cause.cycle || !wakes || result_.stops_others ? CauseKind::kDeadlock
                                                               : CauseKind::kLostWakeup;
    if (std::ranges::any_of(cause.waits,
                            [](const WaitFact& fact) { return fact.renewed.has_value(); }))
      cause.kind = CauseKind::kOrderViolation;
    for (const std::uint16_t thread : others) add_node(*blocked_[thread]);
    // First who waited when it was somebody else's turn.
    if (cause.kind == CauseKind::kLostWakeup) {
      const auto first = std::ranges::find_if(
          cause.waits, [](const WaitFact& fact) { return fact.woken.has_value(); });
      if (first != cause.waits.end()) std::rotate(cause.waits.begin(), first, first + 1);
    }
    if (cause.waits.empty()) cause.pattern = CausePattern::kNone;
    tell();
    return std::move(result_);
  }

 private:
  std::uint16_t thread_of(const OutsideCall& call) const { return run_.steps()[call.step].thread; }
  Instance at(const OutsideCall& call) const {
    return {call.step, run_.steps()[call.step].executed - 1u};
  }
  // The runtime may write out what the program has printed, in the thread that has come to its wait last.
  bool is_last(const OutsideCall& call) const {
    const auto& list = run_.thread(thread_of(call));
    for (std::size_t i = run_.position(call.step) + 1u; i < list.size(); ++i)
      if (pair_.place_of_code(run_.address(list[i])).user) return false;
    return true;
  }
  // Handlers of signals may have run within the call.
  bool waits_in(const OutsideCall& call) const {
    return sync_call(call).kind == SyncKind::kSignal &&
           std::ranges::any_of(pair_.result(kFailing).reports.waits, [&](const WaitReport& report) {
             return report.thread == thread_of(call);
           });
  }
  void add_node(const OutsideCall& call) {
    result_.starts.push_back({kFailing, node_of(at(call))});
  }

  // The call of the passing run that ends the same wait there, if the failing run does not come to it.
  void add_missing(const OutsideCall& call) {
    const Instance there = pair_.alignment().counterpart(kFailing, at(call));
    const RunTrace& other = pair_.trace(kPassing);
    const OutsideCall* same = there.valid() ? other.outside_call(there.step) : nullptr;
    if (same == nullptr || same->back == kNoStep) return;
    const SyncCall waits = sync_call(*same);
    const bool for_descriptor = is_one_of(kDescriptorWaits, same->name);
    const OutsideCall* waker = nullptr;
    for (const OutsideCall& one : other.outside_calls()) {
      if (one.step >= same->back) break;
      // Which descriptors it waits for is not looked at: the last that another thread has put anything into before.
      if (for_descriptor && is_one_of(kDescriptorWakes, one.name) &&
          other.steps()[one.step].thread != other.steps()[same->step].thread)
        waker = &one;
      if (for_descriptor) continue;
      const SyncCall what = sync_call(one);
      const bool wakes = what.step == SyncStep::kWakes ||
                         (what.kind == SyncKind::kBarrier &&
                          other.steps()[one.step].thread != other.steps()[same->step].thread);
      // A semaphore may have been posted before, and others may have come to the barrier first.
      const bool counts = one.step > same->step || what.kind == SyncKind::kSemaphore ||
                          what.kind == SyncKind::kBarrier;
      if (wakes && what.object == waits.object && counts) waker = &one;
    }
    if (waker == nullptr) return;
    const Instance by{waker->step, other.steps()[waker->step].executed - 1u};
    if (!pair_.alignment().counterpart(kPassing, by).valid())
      result_.starts.push_back({kPassing, node_of(by)});
  }

  // Whether every thread that wakes somebody there in the passing run waits in the failing one, and
  // nobody has called there.
  bool stops_others() const {
    for (const std::uint16_t thread : threads_) {
      const SyncCall what = sync_call(*blocked_.at(thread));
      if (what.kind == SyncKind::kLock) continue;
      bool seen = false;
      for (const OutsideCall& one : run_.outside_calls())
        if (const SyncCall wake = sync_call(one);
            wake.step == SyncStep::kWakes && wake.object == what.object)
          return false;
      const RunTrace& other = pair_.trace(kPassing);
      for (const OutsideCall& one : other.outside_calls()) {
        const SyncCall wake = sync_call(one);
        if (wake.step != SyncStep::kWakes || wake.object != what.object) continue;
        seen = true;
        const std::string& id = pair_.run(kPassing).threads()[other.steps()[one.step].thread];
        if (std::ranges::none_of(threads_, [&](std::uint16_t waiting) {
              return pair_.run(kFailing).threads()[waiting] == id;
            }))
          return false;
      }
      if (!seen) return false;
    }
    return threads_.size() > 1;
  }

  // Who waits at an object whose memory was freed before does not wait for anybody: nothing that another thread does with it reaches him.
  bool tell_freed() {
    for (const std::uint16_t thread : threads_) {
      const OutsideCall& call = *blocked_.at(thread);
      const SyncCall what = sync_call(call);
      const Allocation* memory =
          what.object == 0 ? nullptr : run_.allocation(what.object, call.step);
      if (memory == nullptr || memory->freed >= call.step ||
          run_.steps()[memory->freed].thread == thread)
        continue;
      const auto last = [&](StepIndex step) {
        return Instance{step, run_.steps()[step].executed - 1u};
      };
      Cause& cause = result_.cause;
      cause.pattern = CausePattern::kUseAfterFree;
      cause.kind = CauseKind::kOrderViolation;
      cause.variable = object(call, what);
      cause.use = event(call);
      cause.failing_source = event_of(pair_, naming_, kFailing, last(memory->freed), 0, 0);
      cause.failing_source->what = CauseEvent::What::kFrees;
      cause.allocated = event_of(pair_, naming_, kFailing, last(memory->made), 0, 0);
      tell();
      cause.waits.clear();
      return true;
    }
    return false;
  }

  // Where another thread has initialised the lock since.
  std::optional<CauseEvent> renewed(const OutsideCall& wait, std::uint64_t lock) {
    for (const TraceFrame& frame : run_.frames()) {
      if (frame.call == kNoStep || frame.call < wait.step || frame.thread == thread_of(wait) ||
          !pair_.code().called(run_.code(frame.call).back()).ends_with("_init"))
        continue;
      const auto registers = run_.call_registers(frame.call);
      if (registers && registers->arguments[0] == lock)
        return event_of(pair_, naming_, kFailing,
                        {frame.call, run_.steps()[frame.call].executed - 1u}, 0, 0);
    }
    return std::nullopt;
  }

  CauseEvent event(const OutsideCall& call) {
    CauseEvent made = event_of(pair_, naming_, kFailing, at(call), 0, 0);
    made.call = call.name;
    return made;
  }

  std::string object(const OutsideCall& call, const SyncCall& what) {
    if (what.object == 0 || what.kind == SyncKind::kSignal) return "";
    std::string name = naming_.sync_object(kFailing, at(call), what.object);
    // Where optimised code has no name for it, another call for it may.
    for (const OutsideCall& one : run_.outside_calls()) {
      if (!name.empty() || one.step >= call.step) break;
      if (sync_call(one).object == what.object && sync_call(one).kind == what.kind)
        name = naming_.sync_object(kFailing, at(one), what.object);
    }
    return name;
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

  // By one number, which both ends of a pipe do not have.
  static bool writes_to_same(const OutsideCall& one, const OutsideCall& wait) {
    return is_one_of(kDescriptorWakes, one.name) && !wait.name.contains("poll") &&
           !wait.name.contains("select") && !wait.name.starts_with("epoll") &&
           one.registers.arguments[0] == wait.registers.arguments[0];
  }

  void add(std::uint16_t thread) {
    const OutsideCall& call = *blocked_[thread];
    const SyncCall what = sync_call(call);
    WaitFact fact;
    fact.wait = event(call);
    fact.object = object(call, what);
    if (what.kind == SyncKind::kLock) {
      for (std::size_t other = 0; other < run_.thread_count(); ++other)
        if (const OutsideCall* taken = taken_by(other, what.object)) {
          fact.holder = pair_.run(kFailing).threads()[other];
          fact.taken = event(*taken);
          holders_[thread] = static_cast<std::uint16_t>(other);
          events_.push_back(taken);
        }
    } else {
      fact.for_descriptor = is_one_of(kDescriptorWaits, call.name);
      for (const OutsideCall& one : run_.outside_calls()) {
        const SyncCall wake = sync_call(one);
        const bool wakes = fact.for_descriptor
                               ? writes_to_same(one, call)
                               : wake.step == SyncStep::kWakes && wake.object == what.object;
        if (!wakes || thread_of(one) == thread) continue;
        fact.signal = event(one);
        fact.before = happens(one) <= happens(call);
        fact.woken.reset();
        if (const OutsideCall* woken = fact.before ? nullptr : woken_by(one))
          fact.woken = event(*woken);
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
    if (what.kind == SyncKind::kLock && !fact.taken) fact.renewed = renewed(call, what.object);
    const Instance there = pair_.alignment().counterpart(kFailing, at(call));
    if (there.valid()) {
      const OutsideCall* same = pair_.trace(kPassing).outside_call(there.step);
      fact.returns = same != nullptr && same->back != kNoStep;
    }
    events_.push_back(&call);
    result_.cause.waits.push_back(std::move(fact));
  }

  // The wait that returned behind the signal and before any other, if there is just one: others may
  // have timed out.
  const OutsideCall* woken_by(const OutsideCall& signal) const {
    const SyncCall what = sync_call(signal);
    if (what.kind != SyncKind::kCondition) return nullptr;
    StepIndex next = kNoStep;
    for (const OutsideCall& one : run_.outside_calls())
      if (const SyncCall wake = sync_call(one);
          wake.step == SyncStep::kWakes && wake.object == what.object && one.step > signal.step)
        next = std::min(next, one.step);
    const OutsideCall* woken = nullptr;
    for (const OutsideCall& one : run_.outside_calls()) {
      const SyncCall wait = sync_call(one);
      if (wait.step != SyncStep::kWaits || wait.object != what.object || one.back == kNoStep ||
          one.step > signal.step || one.back < signal.step || one.back > next)
        continue;
      const bool may_time_out = one.name.contains("timed") || one.name.contains("clock");
      if (woken != nullptr || may_time_out) return nullptr;
      woken = &one;
    }
    return woken;
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

  // The clock by which the call has done what it does, or has begun to wait for ever: other threads may have run
  // between the call and that.
  std::uint64_t happens(const OutsideCall& call) const {
    if (call.back != kNoStep) return run_.clock(call.back);
    for (const WaitReport& report : pair_.result(kFailing).reports.waits)
      if (report.thread == thread_of(call) && report.since != 0) return report.since;
    return run_.clock(call.step);
  }

  // The events in the order in which they came.
  void tell() {
    std::ranges::sort(events_, {}, [&](const OutsideCall* call) {
      return std::pair(happens(*call), call->step);
    });
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
      step.clock = call->back == kNoStep ? happens(*call) : run_.clock(call->step);
      step.variable = object(*call, what);
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
