#include "host/explain/wait_checks.h"

#include <algorithm>
#include <deque>
#include <set>

#include "host/explain/activity.h"
#include "host/explain/sync_calls.h"

namespace clew {
namespace {

Instance end_of(const RunTrace& run, StepIndex step) {
  return {step, run.steps()[step].executed - 1u};
}

bool is_condition_wait(const OutsideCall& call) {
  const SyncCall what = sync_call(call);
  return what.kind == SyncKind::kCondition && what.step == SyncStep::kWaits;
}

bool is_in_frame(const RunTrace& run, FrameIndex at, FrameIndex frame) {
  while (at != kNoFrame && at != frame) at = run.frames()[at].parent;
  return at == frame;
}

// Whether the user's code does it, or has called what does it, within the call of his function `frame`: not the library for itself.
bool is_for_user(TracedPair& pair, Instance at, FrameIndex frame) {
  const RunTrace& run = pair.trace(kFailing);
  for (FrameIndex f = run.steps()[at.step].frame; f != kNoFrame; f = run.frames()[f].parent) {
    if (pair.place_of_code(run.instruction(at).address).user) return true;
    if (f == frame || run.frames()[f].call == kNoStep) return false;
    at = {run.frames()[f].call, run.steps()[run.frames()[f].call].executed - 1u};
  }
  return false;
}

// What the instance reads of memory that is not its thread's stack.
std::vector<CheckedRead> shared_reads(TracedPair& pair, Instance at, FrameIndex frame) {
  const RunTrace& run = pair.trace(kFailing);
  const std::size_t thread = run.steps()[at.step].thread;
  std::vector<CheckedRead> found;
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i) {
    const std::uint64_t address = run.access_address(at.step, i);
    if (run.access(at.step, i).kind == AccessKind::kRead && !run.is_of_points(address) &&
        stack_of(run, address) != thread && is_for_user(pair, at, frame))
      found.push_back({at, i, address, std::max(run.access(at.step, i).size, 1u)});
  }
  return found;
}

// What the branch is decided by, back through registers and the stack of its thread, within the call of that function.
std::vector<CheckedRead> read_for(TracedPair& pair, Instance branch, FrameIndex frame) {
  constexpr std::size_t kMostNodes = 200;
  const RunTrace& run = pair.trace(kFailing);
  std::vector<CheckedRead> found;
  std::set<Instance> seen{branch};
  std::deque<Instance> todo{branch};
  while (!todo.empty() && seen.size() < kMostNodes) {
    const Instance at = todo.front();
    todo.pop_front();
    const auto reads = shared_reads(pair, at, frame);
    found.insert(found.end(), reads.begin(), reads.end());
    // What came of a call says nothing of memory.
    const bool ends = run.instruction(at).is_call() && run.outside_call(at.step) != nullptr;
    if (!reads.empty() || ends) continue;
    for (const Dependence& one : pair.run(kFailing).of(at)) {
      const bool passes =
          one.kind == DependenceKind::kRegister || one.kind == DependenceKind::kMemory;
      if (!passes || one.on.step >= RunTrace::kFromOutside ||
          run.steps()[one.on.step].thread != run.steps()[branch.step].thread ||
          !is_in_frame(run, run.steps()[one.on.step].frame, frame))
        continue;
      if (seen.insert(one.on).second) todo.push_back(one.on);
    }
  }
  return found;
}

// Whether the branch is of the same condition as a later one: of its line or the one before, and decided once for it.
bool is_of_condition(TracedPair& pair, Instance branch, Instance later) {
  const CodePlace& here = pair.place(kFailing, branch);
  const CodePlace& there = pair.place(kFailing, later);
  return here.line != 0 && here.file == there.file &&
         (here.line == there.line || here.line + 1 == there.line) &&
         !in_loop_without(pair, later, branch);
}

// What follows from reads of the given memory, within one thread.
class Followed {
 public:
  // No memory: whatever the user's code reads counts, within the call of that function, that another thread has written.
  Followed(TracedPair& pair, const std::vector<CheckedRead>& checked, FrameIndex frame,
           Instance wait)
      : pair_(pair),
        run_(pair.trace(kFailing)),
        checked_(checked),
        frame_(frame),
        place_(pair.place(kFailing, wait)) {}

  // kRead: reads of the memory count. kPassed: only what was read before, in registers and on the stack.
  enum class Stage : std::uint8_t { kRead, kPassed };
  // Whether a branch in the step depends on it.
  bool step(StepIndex step, Stage stage) {
    for (std::uint32_t i = 0; i < run_.steps()[step].executed; ++i) {
      const Instance at{step, i};
      if (!(stage == Stage::kRead && reads_checked(at)) && !uses(at, stage)) continue;
      if (run_.instruction(at).flow != Flow::kBranch)
        follows_.insert(at);
      else if (asks_again(at))
        return true;
    }
    return false;
  }

 private:
  // What a container branches on inside, when it is changed, asks nothing: a branch of the library's counts if it decides what the user's own code
  // does, or if it is in the line of the wait, by which the library waits in a loop.
  bool asks_again(Instance branch) {
    const std::uint64_t address = run_.instruction(branch).address;
    const CodePlace& place = pair_.place(kFailing, branch);
    if (place.line == place_.line && place.file == place_.file) return true;
    const CodePlace& code = pair_.place_of_code(address);
    if (!code.user || code.direct) return code.direct;
    const FlowGraph* graph = pair_.graphs().at(address);
    if (graph == nullptr) return true;
    const std::uint32_t block = graph->block_of(address);
    return std::ranges::any_of(graph->blocks(), [&](const FlowGraph::Block& one) {
      return std::ranges::find(one.controllers, block) != one.controllers.end() &&
             (pair_.place_of_code(one.begin).direct || pair_.place_of_code(one.last).direct);
    });
  }
  bool reads_checked(Instance at) const {
    if (checked_.empty())
      return std::ranges::any_of(shared_reads(pair_, at, frame_), [&](const CheckedRead& one) {
        const Instance from = pair_.run(kFailing).source(one.read.step, one.access);
        return from.step < RunTrace::kFromOutside &&
               run_.steps()[from.step].thread != run_.steps()[at.step].thread;
      });
    const auto [first, end] = run_.accesses(at);
    for (std::uint32_t i = first; i < end; ++i) {
      const RecordedAccess& access = run_.access(at.step, i);
      const std::uint64_t address = run_.access_address(at.step, i);
      if (access.kind == AccessKind::kRead &&
          std::ranges::any_of(checked_, [&](const CheckedRead& one) {
            return address < one.address + one.size && one.address < address + access.size;
          }))
        return true;
    }
    return false;
  }
  bool uses(Instance at, Stage stage) const {
    if (follows_.empty()) return false;
    return std::ranges::any_of(pair_.run(kFailing).of(at), [&](const Dependence& one) {
      const bool passes =
          one.kind == DependenceKind::kRegister ||
          (one.kind == DependenceKind::kMemory && (stage == Stage::kRead || is_of_stack(at)));
      return passes && follows_.contains(one.on);
    });
  }
  bool is_of_stack(Instance at) const {
    const auto [first, end] = run_.accesses(at);
    const std::size_t thread = run_.steps()[at.step].thread;
    for (std::uint32_t i = first; i < end; ++i)
      if (stack_of(run_, run_.access_address(at.step, i)) == thread) return true;
    return false;
  }

  TracedPair& pair_;
  const RunTrace& run_;
  const std::vector<CheckedRead>& checked_;
  FrameIndex frame_;
  CodePlace place_;  // of the wait
  std::set<Instance> follows_;
};

// The signal that has ended the wait: the last before its return.
const OutsideCall* signal_of(const RunTrace& run, const OutsideCall& wait) {
  const OutsideCall* found = nullptr;
  for (const OutsideCall& call : run.outside_calls()) {
    if (call.step >= wait.back) break;
    const SyncCall what = sync_call(call);
    if (call.step > wait.step && what.step == SyncStep::kWakes &&
        what.kind == SyncKind::kCondition && what.object == wait.registers.arguments[0])
      found = &call;
  }
  return found;
}

// The first step behind the wait in the function of the user's that waits: a library that waits for it may have to take a lock before.
StepIndex back_in_user(TracedPair& pair, const OutsideCall& wait) {
  const RunTrace& run = pair.trace(kFailing);
  const FrameIndex frame =
      run.steps()[pair.user_instance(kFailing, end_of(run, wait.step)).step].frame;
  const auto& list = run.thread(run.steps()[wait.step].thread);
  for (std::size_t i = run.position(wait.back); i < list.size(); ++i)
    if (run.steps()[list[i]].frame == frame) return list[i];
  return wait.back;
}

// The first that the thread does behind the wait for which the clock counts; not valid: nothing.
Instance next_event(const RunTrace& run, const OutsideCall& wait, StepIndex back) {
  for (const OutsideCall& call : run.outside_calls())
    if (call.step >= back && call.back != kNoStep &&
        run.steps()[call.step].thread == run.steps()[wait.step].thread &&
        run.clock(call.back) > run.clock(call.step))
      return {call.back, 0};
  return {};
}

// The last write of another thread than the waiting one to the memory, between two steps.
Instance changed_between(const RunTrace& run, const CheckedRead& one, StepIndex from,
                         StepIndex until, std::uint16_t thread) {
  Instance found;
  for (StepIndex step = from + 1; step < until; ++step) {
    const BlockStep& info = run.steps()[step];
    if (info.hidden || info.thread == thread) continue;
    const auto& accesses = run.block_of(step).accesses;
    for (std::uint32_t i = 0; i < accesses.size(); ++i) {
      const RecordedAccess& access = accesses[i];
      if (access.instruction >= info.executed || access.kind == AccessKind::kRead ||
          access.kind == AccessKind::kString)
        continue;
      const std::uint64_t address = run.access_address(step, i);
      if (address < one.address + one.size && one.address < address + access.size)
        found = {step, access.instruction};
    }
  }
  return found;
}

}  // namespace

std::vector<std::vector<CheckedRead>> checked_reads(TracedPair& pair, Instance wait) {
  constexpr int kMostBranches = 40;
  const RunTrace& run = pair.trace(kFailing);
  const Instance user = pair.user_instance(kFailing, wait);
  if (!user.valid()) return {};
  const FrameIndex frame = run.steps()[user.step].frame;
  std::vector<std::vector<CheckedRead>> groups;
  Instance nearest;
  Instance branch = wait;
  for (int i = 0; i < kMostBranches; ++i) {
    branch = pair.run(kFailing).control(branch);
    if (!branch.valid() || branch.step >= RunTrace::kFromOutside ||
        !is_in_frame(run, run.steps()[branch.step].frame, frame))
      break;
    if (run.instruction(branch).flow != Flow::kBranch) continue;
    if (nearest.valid() && !is_of_condition(pair, branch, nearest)) break;
    auto found = read_for(pair, branch, frame);
    if (found.empty()) continue;
    if (!nearest.valid()) nearest = branch;
    groups.push_back(std::move(found));
  }
  return groups;
}

bool looks_again(TracedPair& pair, Instance wait, const std::vector<CheckedRead>& checked) {
  // Chosen, not measured: what may follow behind the release, for a result that is handed to the caller.
  constexpr int kMostBehind = 60;
  const RunTrace& run = pair.trace(kFailing);
  const OutsideCall* call = run.outside_call(wait.step);
  const Instance user = pair.user_instance(kFailing, wait);
  if (call == nullptr || call->back == kNoStep || !user.valid()) return true;
  const FrameIndex frame = run.steps()[user.step].frame;
  const auto& list = run.thread(run.steps()[wait.step].thread);
  Followed followed(pair, checked, frame, wait);
  bool is_back = false;  // in the user's function
  int behind = -1;       // steps since it has released a lock, or left that function
  for (std::size_t i = run.position(call->back); i < list.size() && behind < kMostBehind; ++i) {
    const StepIndex step = list[i];
    is_back |= run.steps()[step].frame == frame;
    if (behind >= 0) ++behind;
    if (followed.step(step, behind < 0 ? Followed::Stage::kRead : Followed::Stage::kPassed))
      return true;
    const OutsideCall* other = run.outside_call(step);
    const SyncCall what = other == nullptr ? SyncCall{} : sync_call(*other);
    const bool releases = (what.kind == SyncKind::kLock && what.step == SyncStep::kReleases) ||
                          (what.kind == SyncKind::kCondition && what.step == SyncStep::kWaits);
    if (behind < 0 && ((is_back && releases) || !is_in_frame(run, run.steps()[step].frame, frame)))
      behind = 0;
  }
  return false;
}

std::vector<StaleWakeUp> stale_wake_ups(TracedPair& pair) {
  constexpr std::size_t kMost = 8;
  const RunTrace& run = pair.trace(kFailing);
  std::vector<StaleWakeUp> found;
  for (const OutsideCall& call : run.outside_calls()) {
    if (!is_condition_wait(call) || call.back == kNoStep || timed_out(call)) continue;
    const OutsideCall* signal = signal_of(run, call);
    if (signal == nullptr) continue;
    const Instance wait = end_of(run, call.step);
    const StepIndex back = back_in_user(pair, call);
    StaleWakeUp last;
    for (const auto& checked : checked_reads(pair, wait)) {
      if (looks_again(pair, wait, checked)) continue;
      for (const CheckedRead& one : checked) {
        const Instance change =
            changed_between(run, one, signal->step, back, run.steps()[call.step].thread);
        if (change.valid() && (!last.change.valid() || last.change < change))
          last = {wait, back, end_of(run, signal->step), one, change, next_event(run, call, back)};
      }
    }
    if (last.change.valid()) found.push_back(last);
    if (found.size() == kMost) break;
  }
  return found;
}

}  // namespace clew
