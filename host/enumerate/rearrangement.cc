#include "host/enumerate/rearrangement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "host/trace/overlap.h"

namespace clew {
namespace {

using abi::StepKind;

constexpr std::uint32_t kNobody = ~0u;

enum class Locks : std::uint8_t {
  kHeeded,
  kIgnored,  // to see what the program does where the model thinks that it has to wait
};

// Executes the steps of the trace in another order.
class Simulation {
 public:
  Simulation(const TraceModel& model, std::span<const Aim> aims, Locks locks)
      : model_(model), aims_(aims), locks_(locks), next_(model.threads()) {
    index_.assign(model.threads(), kNobody);
    if (!index_.empty()) index_[0] = indices_++;
    until_.assign(model.threads(), std::numeric_limits<StepNumber>::max());
    done_.resize(model.trace().size());
    blocked_.resize(model.threads());
  }

  [[nodiscard]] const std::vector<std::uint32_t>& prefix() const { return prefix_; }
  [[nodiscard]] bool done(StepNumber step) const { return done_[step]; }

  // The thread of the step makes no step from it on, until it is let go.
  void stop_before(StepNumber step) { until_[thread_of(step)] = step; }
  void let_go(StepNumber step) { until_[thread_of(step)] = std::numeric_limits<StepNumber>::max(); }

  bool directly(StepNumber goal) {
    while (!done_[goal]) {
      const std::uint32_t thread = who_helps(thread_of(goal));
      if (thread == kNobody) return false;
      execute(thread);
    }
    return true;
  }
  bool directly_before(StepNumber goal) {
    while (next_[thread_of(goal)] < model_.number(goal)) {
      const std::uint32_t thread = who_helps(thread_of(goal));
      if (thread == kNobody) return false;
      execute(thread);
    }
    return true;
  }
  bool in_order(StepNumber goal) {
    while (!done_[goal]) {
      const std::uint32_t thread = earliest();
      if (thread == kNobody) return false;
      execute(thread);
    }
    return true;
  }
  bool in_order_before(StepNumber goal) {
    while (next_[thread_of(goal)] < model_.number(goal)) {
      const std::uint32_t thread = earliest();
      if (thread == kNobody) return false;
      execute(thread);
    }
    return true;
  }
  // As far as it goes without these threads.
  void all_others() {
    for (std::uint32_t thread = earliest(); thread != kNobody; thread = earliest()) execute(thread);
  }

 private:
  [[nodiscard]] std::uint32_t thread_of(StepNumber step) const {
    return model_.trace()[step].index;
  }
  [[nodiscard]] StepNumber next_of(std::uint32_t thread) const {
    const std::vector<StepNumber>& steps = model_.steps_of(thread);
    return next_[thread] < steps.size() ? steps[next_[thread]] : kInitialValue;
  }

  [[nodiscard]] bool held(StepNumber step) const {
    const TraceStep& now = model_.trace()[step];
    if (until_[now.index] <= step) return true;
    for (const Aim& aim : aims_) {
      const bool first_done = aim.first == kInitialValue || done_[aim.first];
      if (step == aim.second) {
        if (!first_done) return true;
        continue;
      }
      if (aim.kind != Aim::Kind::kSees || step == aim.first || done_[aim.second]) continue;
      if (first_done && is_write(now.kind) && overlap(now, model_.trace()[aim.second])) return true;
    }
    return false;
  }

  // Whether a wait that was just executed blocks. Of semaphores, which are waited for before the
  // step, it does not.
  [[nodiscard]] bool has_to_wait(StepNumber step) const {
    const TraceModel::Syncs& syncs = model_.syncs(model_.trace()[step].object);
    const std::vector<StepNumber>& steps = model_.steps_of(thread_of(step));
    const std::uint32_t next = model_.number(step) + 1;
    const bool resumed = next < steps.size() && model_.resumes(steps[next]);
    if (model_.arrives_last(step))
      return std::ranges::any_of(syncs.waits,
                                 [&](StepNumber other) { return other < step && !done_[other]; });
    const StepNumber awaited = model_.awaited(step);
    return resumed && awaited != kInitialValue && !done_[awaited];
  }

  // Whom the next step of a thread waits for: itself if it can be executed, kNobody if nobody
  // helps.
  [[nodiscard]] std::uint32_t waits_for(std::uint32_t thread) const {
    const StepNumber step = next_of(thread);
    if (step == kInitialValue) return kNobody;
    if (index_[thread] == kNobody) {
      const StepNumber create = model_.created_by(thread);
      return create == kInitialValue ? kNobody : thread_of(create);
    }
    if (next_[thread] > 0) {
      const StepNumber before = model_.steps_of(thread)[next_[thread] - 1];
      const StepNumber awaited = model_.awaited(before);
      if (awaited != kInitialValue && !done_[awaited]) return thread_of(awaited);
      if (model_.arrives_last(before)) {
        for (const StepNumber other : model_.syncs(model_.trace()[before].object).waits)
          if (other < before && !done_[other]) return thread_of(other);
      }
    }
    const TraceStep& now = model_.trace()[step];
    if (now.kind == StepKind::kJoin)
      if (const StepNumber end = model_.needed(step); end != kInitialValue && !done_[end])
        return thread_of(end);
    if (now.kind == StepKind::kLock && locks_ == Locks::kHeeded) {
      const auto holder = holders_.find(now.object);
      if (holder != holders_.end() && holder->second.thread != thread) return holder->second.thread;
    }
    if ((now.kind == StepKind::kWait && !model_.resumes(step)) || now.kind == StepKind::kSignal) {
      const TraceModel::Syncs& syncs = model_.syncs(now.object);
      for (const StepNumber other : now.kind == StepKind::kWait ? syncs.signals : syncs.waits) {
        if (other >= step) break;
        if (!done_[other]) return thread_of(other);
      }
    }
    return thread;
  }

  // The thread whose step brings this one further; kNobody: there is none that is not held.
  [[nodiscard]] std::uint32_t who_helps(std::uint32_t thread) const {
    for (std::uint32_t hops = 0; hops <= model_.threads(); ++hops) {
      const std::uint32_t needed = waits_for(thread);
      if (needed == kNobody) return kNobody;
      if (needed == thread) return held(next_of(thread)) ? kNobody : thread;
      thread = needed;
    }
    return kNobody;  // they wait for each other
  }

  // The thread that can make a step and whose step comes first in the trace.
  [[nodiscard]] std::uint32_t earliest() const {
    std::uint32_t best = kNobody;
    for (std::uint32_t thread = 0; thread < next_.size(); ++thread) {
      const StepNumber step = next_of(thread);
      if (step == kInitialValue || (best != kNobody && step > next_of(best))) continue;
      if (waits_for(thread) == thread && !held(step)) best = thread;
    }
    return best;
  }

  void execute(std::uint32_t thread) {
    const StepNumber step = next_of(thread);
    const TraceStep& now = model_.trace()[step];
    // Who has waited is picked for that once more; who need not wait in this order is not.
    const bool waited = blocked_[thread];
    blocked_[thread] = false;
    const bool resumes = model_.resumes(step);
    if (resumes == waited) prefix_.push_back(index_[thread]);
    if (waited && !resumes) prefix_.insert(prefix_.end(), 2, index_[thread]);
    done_[step] = true;
    ++next_[thread];
    if (resumes) return;
    const auto give_back = [&](std::uint64_t object) {
      const auto holder = holders_.find(object);
      if (holder != holders_.end() && holder->second.thread == thread &&
          --holder->second.times == 0)
        holders_.erase(holder);
    };
    switch (now.kind) {
      case StepKind::kLock: {
        Holder& holder = holders_[now.object];
        holder.thread = thread;
        ++holder.times;
        break;
      }
      case StepKind::kUnlock:
        give_back(now.object);
        break;
      case StepKind::kWait:
        if (const std::uint64_t mutex = model_.gives_back(step); mutex != 0) {
          give_back(mutex);
        } else {
          blocked_[thread] = has_to_wait(step);
        }
        break;
      case StepKind::kCreate: {
        const std::uint32_t child = model_.child_of(step);
        if (child < index_.size()) index_[child] = indices_;
        ++indices_;
        break;
      }
      default:
        break;
    }
  }

  struct Holder {
    std::uint32_t thread = 0;
    std::uint32_t times = 0;
  };

  const TraceModel& model_;
  std::span<const Aim> aims_;
  Locks locks_;
  std::vector<std::uint32_t> next_;   // by thread: how many steps it has made
  std::vector<std::uint32_t> index_;  // by thread: in order of creation in the new order
  std::uint32_t indices_ = 0;
  std::vector<StepNumber> until_;
  std::vector<bool> done_;
  std::vector<bool> blocked_;  // by thread: in a wait that is noted once more when it is over
  std::unordered_map<std::uint64_t, Holder> holders_;
  std::vector<std::uint32_t> prefix_;
};

class Recipes {
 public:
  Recipes(const TraceModel& model, std::span<const Aim> aims) : model_(model), aims_(aims) {}

  std::vector<std::vector<std::uint32_t>> all() {
    std::vector<std::size_t> order(aims_.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      for (const Way way : {Way::kDirectly, Way::kInOrder}) {
        one_after_the_other(order, way, Way::kDirectly);
        one_after_the_other(order, way, Way::kInOrder);
      }
    } while (std::ranges::next_permutation(order).found);
    if (aims_.size() == 1) {
      second_stands_ready(Locks::kHeeded);
      outside_of_locks();
      others_first();
      second_stands_ready(Locks::kIgnored);
    }
    return std::move(found_);
  }

 private:
  enum class Way : std::uint8_t { kDirectly, kInOrder };

  static bool go(Simulation& run, StepNumber goal, Way way) {
    return way == Way::kDirectly ? run.directly(goal) : run.in_order(goal);
  }

  void take(const Simulation& run) {
    for (const Aim& aim : aims_)
      if (!run.done(aim.second)) return;
    if (known_.insert(run.prefix()).second) found_.push_back(run.prefix());
  }

  void one_after_the_other(std::span<const std::size_t> order, Way to_first, Way to_second) {
    Simulation run(model_, aims_, Locks::kHeeded);
    for (const std::size_t i : order) {
      const Aim& aim = aims_[i];
      if (aim.first != kInitialValue && !go(run, aim.first, to_first)) return;
      if (!go(run, aim.second, to_second)) return;
    }
    take(run);
  }

  void second_stands_ready(Locks locks) {
    const Aim& aim = aims_.front();
    if (aim.first == kInitialValue) return;
    for (const Way way : {Way::kDirectly, Way::kInOrder}) {
      Simulation run(model_, aims_, locks);
      const bool ready =
          way == Way::kDirectly ? run.directly_before(aim.second) : run.in_order_before(aim.second);
      if (ready && run.directly(aim.first) && run.directly(aim.second)) take(run);
    }
  }

  // The second event's thread does not take the locks around it before the first has come.
  void outside_of_locks() {
    const Aim& aim = aims_.front();
    if (aim.first == kInitialValue) return;
    for (const StepNumber lock : model_.locks_around(aim.second)) {
      for (const Way way : {Way::kInOrder, Way::kDirectly}) {
        Simulation run(model_, aims_, Locks::kHeeded);
        run.stop_before(lock);
        if (!go(run, aim.first, way)) continue;
        run.let_go(lock);
        if (run.directly(aim.second)) take(run);
      }
    }
  }

  // Everything that can come before the two does, then the first and the second.
  void others_first() {
    const Aim& aim = aims_.front();
    if (aim.first == kInitialValue) return;
    const auto outermost = [&](StepNumber step) {
      const std::vector<StepNumber> locks = model_.locks_around(step);
      return locks.empty() ? step : locks.front();
    };
    const StepNumber first = outermost(aim.first);
    const StepNumber second = outermost(aim.second);
    if (model_.trace()[first].index == model_.trace()[second].index) return;
    Simulation run(model_, aims_, Locks::kHeeded);
    run.stop_before(first);
    run.stop_before(second);
    run.all_others();
    run.let_go(first);
    if (!run.directly(aim.first)) return;
    run.let_go(second);
    if (run.directly(aim.second)) take(run);
  }

  const TraceModel& model_;
  std::span<const Aim> aims_;
  std::vector<std::vector<std::uint32_t>> found_;
  std::set<std::vector<std::uint32_t>> known_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> propose(const TraceModel& model,
                                                std::span<const Aim> aims) {
  return Recipes(model, aims).all();
}

}  // namespace clew
