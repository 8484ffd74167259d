// What a trace says about orders that no schedule changes, as long as the threads execute the same
// steps: by the program's own order, by creation and join, by barriers that all of their threads
// pass together. Locks order nothing, but what is in one critical section cannot be seen half done
// by another under the same lock (Novillo, Unrau, Schaeffer, "Concurrent SSA form in the presence of
// mutual exclusion", ICPP 1998; MacDonald, Chen, Novillo 2006, section 3).
//
// Condition variables, semaphores, futexes, atomics and flags order nothing in that sense: whether a
// thread waits depends on what it reads. What they order in this run is known all the same, once
// observe() was told what the reads saw: a thread knows what happened before a write when it has
// read it, and what happened before a signal when its wait is over. If each of many different runs
// orders two events so, that is a reason (Order::kObserved), though no proof.
#ifndef CLEW_HOST_ENUMERATE_MUST_ORDER_H_
#define CLEW_HOST_ENUMERATE_MUST_ORDER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/enumerate/order_reason.h"
#include "host/enumerate/reads_from.h"
#include "host/trace/trace.h"

namespace clew {

class MustOrder {
 public:
  // REQUIRES: the trace outlives it.
  explicit MustOrder(std::span<const TraceStep> trace);

  // What the reads of this trace saw: for Order::kObserved.
  void observe(std::span<const Sight> sights);

  enum class Order : std::uint8_t {
    kAlways,    // in every schedule, as long as the threads execute the same steps
    kObserved,  // in this run, by what was read and waited for. REQUIRES: observe()
  };
  // Whether step a comes before step b.
  [[nodiscard]] bool precedes(StepNumber a, StepNumber b, Order order) const;
  // What makes it do so, by steps of this trace; nothing: it need not.
  struct Link {
    OrderReason::Kind kind = OrderReason::Kind::kNone;
    // The join, the wait at the barrier, the read, the wait; kInitialValue: none.
    StepNumber at = kInitialValue;
    StepNumber source = kInitialValue;  // kSawFirst: the write; kWaitedFirst: the signal
  };
  [[nodiscard]] std::optional<Link> link(StepNumber a, StepNumber b, Order order) const;
  // The same by places.
  [[nodiscard]] std::optional<OrderReason> before(StepNumber a, StepNumber b,
                                                  Order order = Order::kAlways) const;

  // Why the read cannot see the write (or the initial value), among accesses to the same bytes;
  // nothing: it may. `accesses` are all to those bytes, in order.
  [[nodiscard]] std::optional<OrderReason> hidden(StepNumber write, StepNumber read,
                                                  std::span<const SharedBytes::Access> accesses,
                                                  Order order = Order::kAlways) const;

  // The locks that a step was executed under.
  struct Section {
    std::uint64_t lock = 0;  // the object
    StepNumber taken = 0;    // the step that took it
    bool operator==(const Section&) const = default;
  };
  [[nodiscard]] const std::vector<Section>& sections(StepNumber step) const {
    return held_lists_[held_[step]];
  }

 private:
  enum Edges : std::uint8_t { kCreation = 0, kJoins = 1, kBarriers = 2, kSeen = 3, kLevels = 4 };
  using Clock = std::vector<std::uint32_t>;

  void find_sections();
  void find_clocks(Edges level);
  [[nodiscard]] bool ordered(StepNumber a, StepNumber b, Edges level) const;
  // The step of the thread of `step`, of this kind, that comes last before it. kWait: at a barrier
  // that orders.
  [[nodiscard]] StepNumber last_before(StepNumber step, abi::StepKind kind) const;
  [[nodiscard]] std::vector<StepNumber> released_by_barrier() const;
  void find_lives();
  // For each wait that a signal has ended: that signal, or the newest before the wait.
  void find_signals();
  // What was read or waited for so that a is known to come before b. REQUIRES: it is.
  [[nodiscard]] Link observed_link(StepNumber a, StepNumber b) const;

  std::span<const TraceStep> trace_;
  std::uint32_t width_ = 0;
  std::vector<std::uint32_t> number_;             // of a step in its thread, from 1
  std::vector<Clock> clocks_[kLevels];            // of stretches of a thread's steps
  std::vector<std::uint32_t> clock_of_[kLevels];  // by step
  std::vector<std::uint32_t> held_;               // by step, in held_lists_
  std::vector<std::vector<Section>> held_lists_;
  std::vector<StepNumber> barrier_;             // by step: released_by_barrier()
  std::vector<StepNumber> same_thread_before_;  // by step; kInitialValue: it is the first
  std::vector<StepNumber> final_;               // by thread: its last step
  std::unordered_map<StepNumber, std::uint32_t> children_;  // threads by the step that creates them
  std::unordered_map<StepNumber, std::uint32_t> joined_;  // threads by the join that waits for them
  // By read: the writes of other threads that it saw.
  std::unordered_map<StepNumber, std::vector<StepNumber>> saw_;
  std::unordered_map<StepNumber, std::vector<StepNumber>> signalled_by_;  // by wait
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_MUST_ORDER_H_
