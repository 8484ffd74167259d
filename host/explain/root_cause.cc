#include "host/explain/root_cause.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "host/explain/memory_history.h"

namespace clew {
namespace {

// -1: unseen.
int thread_of(const RunTrace& run, NodeId node) {
  return is_unseen(node) ? -1 : run.steps()[instance_of(node).step].thread;
}

bool releases(std::string_view name) {
  return name == "free" || name == "realloc" || name.starts_with("_Zdl") ||
         name.starts_with("_Zda");
}
bool allocates(std::string_view name) {
  return name == "malloc" || name == "calloc" || name.starts_with("_Znw") ||
         name.starts_with("_Zna");
}

const OutsideCall* call_of(const RunTrace& run, NodeId node) {
  if (is_unseen(node) || !run.instruction(instance_of(node)).is_call()) return nullptr;
  return run.outside_call(instance_of(node).step);
}

Location location(const CodePlace& place) { return {place.file, place.line, place.function}; }

struct Use {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
};

// The memory that a dependence of the node is about: `use` has its access.
Use memory_of(const RunTrace& run, Instance at, std::uint64_t use) {
  const auto slot = static_cast<std::uint32_t>(use);
  const auto [first, end] = run.accesses(at);
  const std::uint32_t index = first + (slot - 100);
  if (slot < 100 || index >= end) return {};
  return {run.access_address(at.step, index), std::max(run.access(at.step, index).size, 1u)};
}

class Classifier {
 public:
  Classifier(TracedPair& pair, Naming& naming, const DualSlice& slice, const Root& root)
      : pair_(pair), naming_(naming), slice_(slice), root_(root), run_(pair.trace(kFailing)) {}

  Cause classify() {
    const Instance use = instance_of(root_.use_failing);
    thread_ = run_.steps()[use.step].thread;
    cause_.use = event(kFailing, use);
    cause_.passing_value = event(kPassing, instance_of(root_.use_passing)).value;
    if (const auto name = naming_.memory(kFailing, use, root_.address, root_.size))
      cause_.variable = name->name;
    cause_.failing_source = source(kFailing, root_.from_failing);
    cause_.passing_source = source(kPassing, root_.from_passing);
    if (root_.address == 0) return result_of_call();
    history_ = history_of(run_, root_.address, root_.size);
    if (use_after_free(use)) return std::move(cause_);
    const int failing = thread_of(run_, root_.from_failing);
    const int passing = thread_of(pair_.trace(kPassing), root_.from_passing);
    if (between(use)) return std::move(cause_);
    if (passing >= 0 && id(kPassing, passing) != id(kFailing, thread_)) {
      too_early();
    } else if (failing >= 0 && failing != thread_) {
      overwritten();
    }
    return std::move(cause_);
  }

 private:
  const std::string& id(WhichRun side, int thread) const {
    return pair_.run(side).threads()[static_cast<std::size_t>(thread)];
  }
  CauseEvent event(WhichRun side, Instance at) {
    return event_of(pair_, naming_, side, at, root_.address, root_.size);
  }
  std::optional<CauseEvent> source(WhichRun side, NodeId node) {
    if (instance_of(node).step == RunTrace::kFromStart) return CauseEvent{};
    if (is_unseen(node)) return std::nullopt;
    return event(side, instance_of(node));
  }

  // Nothing that was seen tells why a call gives another result, unless what it is given is no more.
  Cause result_of_call() {
    cause_.pattern = CausePattern::kResult;
    const std::string& call = cause_.use.call;
    const OutsideCall* use = call_of(run_, root_.use_failing);
    for (const OutsideCall& one : run_.outside_calls()) {
      if (use == nullptr || one.step >= use->step || !one.name.ends_with("_destroy") ||
          one.registers.arguments[0] != use->registers.arguments[0])
        continue;
      const Instance at{one.step, run_.steps()[one.step].executed - 1u};
      cause_.kind = CauseKind::kOrderViolation;
      cause_.pattern = CausePattern::kUseAfterFree;
      cause_.variable = naming_.sync_object(kFailing, at, one.registers.arguments[0]);
      cause_.failing_source = event(kFailing, at);
      cause_.failing_source->what = CauseEvent::What::kDestroys;
      return std::move(cause_);
    }
    // A call that was not seen to return may have, unless it is the last that the thread did.
    const auto returns = [&](WhichRun side, NodeId node, const std::string& value) {
      const RunTrace& run = pair_.trace(side);
      const StepIndex step = instance_of(node).step;
      return !value.empty() || run.thread(run.steps()[step].thread).back() == step;
    };
    if (!returns(kFailing, root_.use_failing, cause_.use.value) ||
        !returns(kPassing, root_.use_passing, cause_.passing_value) ||
        cause_.use.value == cause_.passing_value)
      cause_.pattern = CausePattern::kNone;
    const bool timed = call.contains("timed") || call.contains("clock") || call.contains("try");
    cause_.kind = timed ? CauseKind::kChoice : CauseKind::kUnknown;
    return std::move(cause_);
  }

  bool use_after_free(Instance use) {
    const Allocation* memory = run_.allocation(root_.address, use.step);
    if (memory == nullptr || memory->freed == kNoStep || memory->freed >= use.step) return false;
    const auto last = [&](StepIndex step) {
      return Instance{step, run_.steps()[step].executed - 1u};
    };
    cause_.kind = CauseKind::kOrderViolation;
    cause_.pattern = CausePattern::kUseAfterFree;
    cause_.failing_source = event(kFailing, last(memory->freed));
    cause_.failing_source->what = CauseEvent::What::kFrees;
    cause_.allocated = event(kFailing, last(memory->made));
    return true;
  }

  // Whether the two hold no lock in common, and are not both atomic.
  bool unordered(Instance a, Instance b) {
    const auto first = locks_at(run_, a.step);
    const auto second = locks_at(run_, b.step);
    if (std::ranges::any_of(first, [&](std::uint64_t lock) { return second.contains(lock); }))
      return false;
    return !is_atomic(pair_, kFailing, a, root_.address) ||
           !is_atomic(pair_, kFailing, b, root_.address);
  }

  const MemoryAccess* entry(Instance at) const {
    const auto found = std::ranges::find(history_, at, &MemoryAccess::at);
    return found == history_.end() ? nullptr : &*found;
  }
  bool of_thread(const MemoryAccess& one, int thread) const {
    return run_.steps()[one.at.step].thread == thread;
  }

  // One thread comes between two accesses of another that belong together.
  bool between(Instance use) {
    const MemoryAccess* at = entry(use);
    if (at == nullptr) return false;
    const int from = thread_of(run_, root_.from_failing);
    if (from >= 0 && from != thread_ && behind_own(*at)) return true;
    return before_own(*at) || inside_others(*at) || inside_another(*at);
  }

  // It reads what another has written, and has accessed it itself before that.
  bool behind_own(const MemoryAccess& use) {
    const MemoryAccess* remote = nullptr;
    for (const MemoryAccess* one = &use; one != history_.data();) {
      --one;
      const bool mine = of_thread(*one, thread_);
      if (!mine && one->writes && remote == nullptr) remote = one;
      if (!mine) continue;
      if (remote == nullptr || !same_activity(one->at, use.at)) return false;
      return tell_between(*one, *remote, use);
    }
    return false;
  }

  // It reads too early, and accesses it again behind the write that it has missed: to write, or so
  // that the failure depends on it, or because of what it has read.
  bool before_own(const MemoryAccess& use) {
    const MemoryAccess* remote = nullptr;
    const MemoryAccess* end = history_.data() + history_.size();
    for (const MemoryAccess* one = &use + 1; one != end; ++one) {
      const bool mine = of_thread(*one, thread_);
      if (!mine && one->writes && remote == nullptr) remote = one;
      if (!mine || one->frees || !same_activity(use.at, one->at)) continue;
      const bool matters = one->writes || slice_.half[kFailing].nodes.contains(node_of(one->at)) ||
                           !pair_.alignment().counterpart(kFailing, one->at).valid();
      if (remote == nullptr && one->writes) return false;
      if (remote != nullptr && matters) return tell_between(use, *remote, *one);
    }
    return false;
  }

  // It comes between two accesses of the thread whose write it has missed.
  bool inside_others(const MemoryAccess& use) {
    if (is_unseen(root_.from_passing)) return false;
    const Instance missed =
        pair_.alignment().counterpart(kPassing, instance_of(root_.from_passing));
    const MemoryAccess* later = missed.valid() ? entry(missed) : nullptr;
    if (later == nullptr || later->at < use.at) return false;
    const int owner = run_.steps()[missed.step].thread;
    const MemoryAccess* remote = &use;
    for (const MemoryAccess* one = &use; one != later; ++one)
      if (of_thread(*one, thread_) && one->writes && !one->frees) remote = one;
    for (const MemoryAccess* one = &use; one != history_.data();) {
      --one;
      if (!of_thread(*one, owner) || !same_activity(one->at, later->at)) continue;
      // It has read what it writes by, or it writes in two steps.
      if (!remote->writes && !one->writes) return false;
      return tell_between(*one, *remote, *later);
    }
    return false;
  }

  // It comes, with a write of its own, between two accesses of some other thread, of which the later one
  // overwrites what it wrote.
  bool inside_another(const MemoryAccess& use) {
    const MemoryAccess* written = nullptr;
    const MemoryAccess* end = history_.data() + history_.size();
    for (const MemoryAccess* later = &use; later != end; ++later) {
      if (of_thread(*later, thread_)) {
        if (later->writes && !later->frees) written = later;
        continue;
      }
      if (written == nullptr || !later->writes || later->frees) continue;
      const int owner = run_.steps()[later->at.step].thread;
      for (const MemoryAccess* one = &use; one != history_.data();) {
        --one;
        if (!of_thread(*one, owner)) continue;
        if (!same_activity(one->at, later->at)) break;
        return tell_between(*one, *written, *later);
      }
    }
    return false;
  }

  // Who waits for others to end, or starts them, in between expects them to come in between.
  bool lets_others_in(const MemoryAccess& first, const MemoryAccess& last) const {
    const std::uint16_t thread = run_.steps()[first.at.step].thread;
    return std::ranges::any_of(run_.outside_calls(), [&](const OutsideCall& call) {
      return call.step >= first.at.step && call.step <= last.at.step &&
             run_.steps()[call.step].thread == thread &&
             (call.name.contains("join") || call.name == "pthread_create" ||
              call.name == "thrd_create");
    });
  }

  bool tell_between(const MemoryAccess& first, const MemoryAccess& remote,
                    const MemoryAccess& last) {
    if (lets_others_in(first, last)) return false;
    cause_.pattern = CausePattern::kBetween;
    cause_.earlier = event(kFailing, first.at);
    cause_.remote = event(kFailing, remote.at);
    if (remote.frees) cause_.remote->what = CauseEvent::What::kFrees;
    cause_.later = event(kFailing, last.at);
    tell_callers(first.at, last.at);
    cause_.unordered = unordered(first.at, remote.at) || unordered(remote.at, last.at);
    cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
    return true;
  }

  // The lines of the innermost function of the user's that both are in, if they are in calls of it.
  void tell_callers(Instance first, Instance last) {
    std::set<FrameIndex> callers;
    for (FrameIndex f = run_.steps()[first.step].frame; f != kNoFrame; f = run_.frames()[f].parent)
      callers.insert(f);
    FrameIndex shared = run_.steps()[last.step].frame;
    while (shared != kNoFrame && !callers.contains(shared)) shared = run_.frames()[shared].parent;
    if (shared == kNoFrame) return;
    const auto line_in = [&](Instance at) -> Location {
      for (FrameIndex f = run_.steps()[at.step].frame; f != shared; f = run_.frames()[f].parent) {
        if (run_.frames()[f].call == kNoStep) return {};
        at = {run_.frames()[f].call, run_.steps()[run_.frames()[f].call].executed - 1u};
      }
      return location(pair_.place(kFailing, at));
    };
    const Location before = line_in(first);
    const Location behind = line_in(last);
    if (before.line != 0 && before.line != cause_.earlier->at.line)
      cause_.earlier->called_at = before;
    if (behind.line != 0 && behind.line != cause_.later->at.line) cause_.later->called_at = behind;
  }

  // Both in one call of a function of the user's, or in what it calls.
  bool same_activity(Instance a, Instance b) {
    std::set<FrameIndex> callers;
    for (FrameIndex f = run_.steps()[a.step].frame; f != kNoFrame; f = run_.frames()[f].parent)
      callers.insert(f);
    Instance at = b;  // where the frame is at that time
    for (FrameIndex f = run_.steps()[b.step].frame; f != kNoFrame; f = run_.frames()[f].parent) {
      if (callers.contains(f) && pair_.place_of_code(run_.instruction(at).address).user)
        return true;
      const StepIndex call = run_.frames()[f].call;
      if (call == kNoStep) return false;
      at = {call, run_.steps()[call].executed - 1u};
    }
    return false;
  }

  void too_early() {
    cause_.pattern = CausePattern::kTooEarly;
    const Instance there = instance_of(root_.from_passing);
    // The same write in the failing run, if it comes to it.
    const Instance here = pair_.alignment().counterpart(kPassing, there);
    if (here.valid() && here < instance_of(root_.use_failing)) {
      // It has come before, and was overwritten.
      if (thread_of(run_, root_.from_failing) >= 0) return overwritten();
      cause_.pattern = CausePattern::kNone;
      return;
    }
    const bool fresh = instance_of(root_.from_failing).step == RunTrace::kFromStart ||
                       is_allocation(root_.from_failing);
    if (here.valid()) cause_.unordered = unordered(instance_of(root_.use_failing), here);
    cause_.kind = fresh || !here.valid() || !cause_.unordered ? CauseKind::kOrderViolation
                                                              : CauseKind::kDataRace;
  }

  bool is_allocation(NodeId node) {
    const OutsideCall* call = call_of(run_, node);
    return call != nullptr && allocates(call->name);
  }

  void overwritten() {
    cause_.pattern = CausePattern::kOverwritten;
    cause_.unordered = unordered(instance_of(root_.use_failing), instance_of(root_.from_failing));
    const OutsideCall* call = call_of(run_, root_.from_failing);
    if (call != nullptr && releases(call->name)) {
      cause_.pattern = CausePattern::kUseAfterFree;
      cause_.kind = CauseKind::kOrderViolation;
      return;
    }
    cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kOrderViolation;
  }

  TracedPair& pair_;
  Naming& naming_;
  const DualSlice& slice_;
  const Root& root_;
  const RunTrace& run_;
  int thread_ = 0;
  std::vector<MemoryAccess> history_;
  Cause cause_;
};

}  // namespace

namespace {
Location caller_of(TracedPair& pair, WhichRun side, Instance at);
}  // namespace

CauseEvent event_of(TracedPair& pair, Naming& naming, WhichRun side, Instance at,
                    std::uint64_t address, std::uint32_t size) {
  const RunTrace& run = pair.trace(side);
  CauseEvent event;
  event.thread = pair.run(side).threads()[run.steps()[at.step].thread];
  const CodePlace& place = pair.place(side, at);
  event.at = location(place);
  event.text = naming.text(place);
  event.called_at = caller_of(pair, side, at);
  event.clock = run.clock(at.step);
  for (const std::uint64_t lock : locks_at(run, at.step))
    event.locks.push_back({lock, naming.sync_object(side, at, lock)});
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i) {
    const RecordedAccess& access = run.access(at.step, i);
    const std::uint64_t there = run.access_address(at.step, i);
    if (there >= address + size || there + access.size <= address) continue;
    event.what = access.kind == AccessKind::kRead    ? CauseEvent::What::kReads
                 : access.kind == AccessKind::kWrite ? CauseEvent::What::kWrites
                                                     : CauseEvent::What::kUpdates;
    if (!access.has_value) continue;
    const auto name = naming.memory(side, at, there, access.size);
    event.value = naming.value(side, at, run.access_value(at.step, i), access.size,
                               name ? name->type : nullptr);
  }
  if (event.what != CauseEvent::What::kNothing || !run.instruction(at).is_call()) return event;
  event.what = CauseEvent::What::kCalls;
  if (const OutsideCall* call = run.outside_call(at.step)) {
    event.call = call->name;
    if (releases(call->name)) event.what = CauseEvent::What::kFrees;
    if (call->back != kNoStep)
      event.value = naming.value(side, at, call->result & UINT32_MAX, 4, nullptr);
  }
  return event;
}

// The user's line that called the function it is in, if that is the user's, too.
namespace {
Location caller_of(TracedPair& pair, WhichRun side, Instance at) {
  const RunTrace& run = pair.trace(side);
  const Instance user = pair.user_instance(side, at);
  if (!user.valid()) return {};
  const CodePlace& inner = pair.place(side, user);
  if (inner.outer_line != 0) return {inner.outer_file, inner.outer_line, inner.outer_function};
  const StepIndex call = run.frames()[run.steps()[user.step].frame].call;
  if (call == kNoStep) return {};
  const Instance caller = pair.user_instance(side, {call, run.steps()[call].executed - 1u});
  return caller.valid() ? location(pair.place(side, caller)) : Location{};
}
}  // namespace

std::vector<Root> find_roots(TracedPair& pair, Naming& naming, const DualSlice& slice) {
  struct Candidate {
    Root root;
    bool named = false;
    bool last = false;  // what it reads is no difference in either run: the chain ends here
  };
  std::vector<Candidate> found;
  Comparison& runs = pair.comparison();
  std::set<NodeId> seen;
  for (const WhichRun side : {kFailing, kPassing})
    for (const NodeId node : slice.half[side].nodes) {
      if (is_unseen(node)) continue;
      const NodeId there = runs.counterpart(side, node);
      if (there == kNoNode || !seen.insert(side == kFailing ? node : there).second) continue;
      Root root;
      root.use_failing = side == kFailing ? node : there;
      root.use_passing = side == kFailing ? there : node;
      const auto mine = runs.dependences(kFailing, root.use_failing);
      const auto theirs = runs.dependences(kPassing, root.use_passing);
      const Instance use = instance_of(root.use_failing);
      const int thread = thread_of(pair.trace(kFailing), root.use_failing);
      for (const NodeDependence& one : mine) {
        if (Comparison::kind_of(one.use) != DependenceKind::kMemory) continue;
        const auto same = std::ranges::find(theirs, one.use, &NodeDependence::use);
        if (same == theirs.end() || runs.counterpart(kFailing, one.on) == same->on) continue;
        const int a = thread_of(pair.trace(kFailing), one.on);
        const int b = thread_of(pair.trace(kPassing), same->on);
        const auto& ids = pair.run(kFailing).threads();
        const auto& ids_there = pair.run(kPassing).threads();
        const bool foreign = (a >= 0 && a != thread) || (b >= 0 && ids_there[b] != ids[thread]);
        if (!foreign) continue;
        const Use memory = memory_of(pair.trace(kFailing), use, one.use);
        root.from_failing = one.on;
        root.from_passing = same->on;
        root.address = memory.address;
        root.size = memory.size;
        const auto name = naming.memory(kFailing, use, memory.address, memory.size);
        const bool last = runs.difference(kFailing, one.on) == Difference::kNone &&
                          runs.difference(kPassing, same->on) == Difference::kNone;
        found.push_back({root, name && !name->made_up, last});
      }
      // A call from which nothing that was seen tells why its result differs.
      const Instance at = use;
      const OutsideCall* call = call_of(pair.trace(kFailing), root.use_failing);
      if (call != nullptr && runs.difference(kFailing, root.use_failing) == Difference::kValue &&
          !pair.alignment().parts(kFailing, at) && !releases(call->name) && !call->name.empty()) {
        root.from_failing = root.from_passing = NodeId{RunTrace::kFromOutside} << 8;
        root.address = 0;
        root.size = 0;
        found.push_back({root, false, false});
      }
    }
  // What comes first decides what follows.
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    const bool memory_a = a.root.address != 0, memory_b = b.root.address != 0;
    if (memory_a != memory_b) return memory_a;
    if (a.last != b.last) return a.last;
    if (a.named != b.named) return a.named;
    return a.root.use_failing < b.root.use_failing;
  });
  std::vector<Root> result;
  for (const Candidate& one : found) {
    result.push_back(one.root);
    result.back().last = one.last;
  }
  return result;
}

Cause classify(TracedPair& pair, Naming& naming, const DualSlice& slice, const Root& root) {
  return Classifier(pair, naming, slice, root).classify();
}

}  // namespace clew
