// The steps of a traced run in another order: the same steps of each thread, in an order in which a
// read comes right after the write that it is to see, as far as locks, joins, waits and creation
// let them. The result is a list of threads that a run can be asked to follow (prefix). It is a
// proposal: what the threads do may change with what they read, so a run shows what comes of it.
//
// Two ways to come to a step, of which recipes are made (propose()):
//   in order  the threads run in the order of the trace, but those that are held
//   directly  the thread of the step runs; if it cannot, whoever it waits for does
// A step is held before it may come: the read before its write, other writes to the same bytes
// between the two, the later event of an order before the earlier one.
#ifndef CLEW_HOST_ENUMERATE_REARRANGEMENT_H_
#define CLEW_HOST_ENUMERATE_REARRANGEMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/enumerate/reads_from.h"
#include "host/trace/trace.h"

namespace clew {

// What a run is to do, in terms of the steps of a trace.
struct Aim {
  enum class Kind : std::uint8_t { kSees, kBefore };
  Kind kind = Kind::kSees;
  StepNumber first = kInitialValue;  // the write (or the initial value), or the earlier event
  StepNumber second = 0;             // the read, or the later event
};

// What the steps of a trace need, found once for it.
class TraceModel {
 public:
  // REQUIRES: the trace outlives it.
  explicit TraceModel(std::span<const TraceStep> trace);

  [[nodiscard]] std::span<const TraceStep> trace() const { return trace_; }
  [[nodiscard]] const std::vector<StepNumber>& steps_of(std::uint32_t thread) const {
    return steps_[thread];
  }
  [[nodiscard]] std::uint32_t threads() const { return static_cast<std::uint32_t>(steps_.size()); }
  // The step that created a thread; kInitialValue: none, it is there from the start.
  [[nodiscard]] StepNumber created_by(std::uint32_t thread) const { return created_by_[thread]; }
  // The thread that a step creates; threads(): none that made a step.
  [[nodiscard]] std::uint32_t child_of(StepNumber create) const;
  // What has to be executed between a step of a thread and its next: the waker, the last step of
  // the thread joined. kInitialValue: nothing.
  [[nodiscard]] StepNumber awaited(StepNumber step) const { return awaited_[step]; }
  // What has to be executed before a step: of a join that came after it, the last step of the
  // thread joined. kInitialValue: nothing.
  [[nodiscard]] StepNumber needed(StepNumber step) const {
    const auto found = needed_.find(step);
    return found == needed_.end() ? kInitialValue : found->second;
  }
  // Whether all earlier waits for the object have to be executed before the next step.
  [[nodiscard]] bool arrives_last(StepNumber wait) const { return arrives_last_[wait]; }
  // A wait that is only noted once more, when it is over.
  [[nodiscard]] bool resumes(StepNumber step) const { return resumes_[step]; }
  // The mutex that a wait gives back; 0: none.
  [[nodiscard]] std::uint64_t gives_back(StepNumber wait) const;
  // Waits and signals of an object, in order.
  struct Syncs {
    std::vector<StepNumber> waits;
    std::vector<StepNumber> signals;
  };
  [[nodiscard]] const Syncs& syncs(std::uint64_t object) const { return syncs_.at(object); }
  // Where in its thread's steps a step is.
  [[nodiscard]] std::uint32_t number(StepNumber step) const { return number_[step]; }
  // The steps of its thread before it that took the locks under which it is, outermost first.
  [[nodiscard]] std::vector<StepNumber> locks_around(StepNumber step) const;

 private:
  void find_awaited(StepNumber step, StepNumber next);

  std::span<const TraceStep> trace_;
  std::vector<std::vector<StepNumber>> steps_;  // by thread
  std::vector<std::uint32_t> number_;
  std::vector<StepNumber> created_by_;
  std::unordered_map<StepNumber, std::uint32_t> children_;
  std::vector<StepNumber> awaited_;
  std::unordered_map<StepNumber, StepNumber> needed_;
  std::vector<bool> arrives_last_;
  std::vector<bool> resumes_;
  std::unordered_map<StepNumber, std::uint64_t> given_back_;
  std::unordered_map<std::uint64_t, Syncs> syncs_;
};

// Prefixes (the index of the thread of each step) by which the aims may be reached, the likeliest
// first, each once. None: no recipe leads there.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> propose(const TraceModel& model,
                                                              std::span<const Aim> aims);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_REARRANGEMENT_H_
