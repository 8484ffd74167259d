// Which instruction of one run is which of the other: execution indexing (Xin, Sumner and Zhang 2008),
// as Weeratunge et al. 2010 use it (definition 1).
//
// The index of an instance is its place in the tree of calls and of regions that branches open, with
// the iterations of a loop as siblings. Walking both runs of a thread in step visits both trees at
// once, in linear time: while they go the same way, instances with equal indices meet; where a branch
// goes two ways, each run is followed alone up to where all ways from the branch meet (its immediate
// post-dominator) in the same call, and what lies between has no counterpart. A call that is left by
// an exception or a longjmp is a branch of its caller. What a signal handler does belongs to no place of the
// code that it has interrupted: the first activation of it in a thread is that of the other run, and so on.
// Tasks that a pool has handed to another thread are aligned by what they are (moved_work.h).
#ifndef CLEW_HOST_EXPLAIN_ALIGNMENT_H_
#define CLEW_HOST_EXPLAIN_ALIGNMENT_H_

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/explain/moved_work.h"
#include "host/explain/parties.h"
#include "host/model/flow_graphs.h"
#include "host/observe/run_trace.h"

namespace clew {

enum WhichRun : std::uint8_t { kFailing = 0, kPassing = 1 };
inline constexpr WhichRun other(WhichRun side) { return side == kFailing ? kPassing : kFailing; }

class Alignment {
 public:
  using ThreadPair = std::pair<std::uint16_t, std::uint16_t>;  // of the failing, of the passing run

  Alignment(const RunTrace& failing, const RunTrace& passing, const Parties& failing_parties,
            const Parties& passing_parties, const std::vector<ThreadPair>& threads,
            FlowGraphs& graphs);

  // The same instance in the other run; not valid: there is none.
  [[nodiscard]] Instance counterpart(WhichRun side, Instance at) const;
  // The runs continue in two ways from here.
  [[nodiscard]] bool parts(WhichRun side, Instance at) const;
  // It has no counterpart because the other run ended before: no difference (section 4.1).
  [[nodiscard]] bool cut_off(WhichRun side, StepIndex step) const;

  struct Share {
    std::uint64_t aligned = 0;  // instructions
    std::uint64_t all = 0;
  };
  // The task that both runs do, each in a thread of its own, and that the step belongs to; null: none.
  [[nodiscard]] const WorkItem* task(WhichRun side, StepIndex step) const;
  // Of a thread of the run.
  [[nodiscard]] Share share(WhichRun side, std::size_t thread) const;

 private:
  struct Segment {
    std::array<StepIndex, 2> step;
    std::array<std::uint8_t, 2> instruction;
    std::uint8_t count;
  };
  struct Cursor {
    std::size_t position = 0;       // in the thread's list
    std::uint32_t instruction = 0;  // of the step
  };
  struct Walk;

  static constexpr std::uint32_t kNoSegment = UINT32_MAX;

  using StepList = std::vector<StepIndex>;
  void align_threads(const std::vector<ThreadPair>& threads);
  void align_by_content(const std::vector<ThreadPair>& threads);
  void align(const ThreadPair& pair);
  void align(const StepList& failing, const StepList& passing);
  void set_tasks();
  // The number of the task, counted from 1; 0: none.
  [[nodiscard]] std::uint32_t task_number(WhichRun side, StepIndex step) const;
  [[nodiscard]] StepList without_tasks(WhichRun side, StepList steps) const;
  [[nodiscard]] StepList steps_of(WhichRun side, const WorkItem& item) const;
  // Everything that is cut off together.
  [[nodiscard]] std::uint64_t unit(WhichRun side, StepIndex step) const;
  void cut(WhichRun side, StepIndex from);
  bool meet(Walk& walk);
  [[nodiscard]] const RunTrace& run(WhichRun side) const { return *runs_[side]; }

  std::array<const RunTrace*, 2> runs_;
  std::array<const Parties*, 2> parties_;
  FlowGraphs& graphs_;
  std::vector<Segment> segments_;
  std::array<std::vector<std::uint32_t>, 2> first_segment_;  // of each step
  std::array<std::unordered_map<std::uint64_t, bool>, 2> parts_;
  // From this step on everything of the unit is cut off.
  std::array<std::unordered_map<std::uint64_t, StepIndex>, 2> cut_from_;
  MovedWork moved_;
  std::array<std::vector<std::uint32_t>, 2> tasks_;  // of each frame; empty: there are none
};

// Tells the graphs where indirect jumps and exceptions led.
void see_flow(const RunTrace& run, FlowGraphs& graphs);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_ALIGNMENT_H_
