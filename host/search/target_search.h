// Directed preemptions: what the threads were seen to do says where a preemption could matter, and
// each such place is tried once, the likeliest first.
//
// A target is: thread A stops before its step q and is held there while thread B runs as far as it
// can; then A resumes. With p the contended step of A before q, and r steps of B in between, it is
// one of the patterns in which concurrency bugs come (Lu et al., "Learning from Mistakes", ASPLOS
// 2008; the unserializable cases are those of Lu et al., "AVIO", ASPLOS 2006, table 1; directing
// the scheduler at them is CTrigger's idea, Park, Lu, Zhou, ASPLOS 2009):
//
//   atomicity of one variable  p, r, q on the same object, in an order that no serial run has
//   of several                 r conflicts with p on one object and with q on another
//   order                      B conflicts with q, or with the first step of A
//   deadlock                   A holds a lock and is about to take the next, B takes them in the
//                              other order; for more than two threads: all of them stop there
//
// Unlike those it needs no profile of many runs and no second tool: it begins after one run, in
// lockstep, which has the most switches there are and shows what the threads do, and tries each pattern once for each pair of kinds of threads. Threads that touch the same places are
// of one kind: a hundred alike threads are no more work than two. When all targets have been tried,
// two at a time are combined at random, for bugs that need two preemptions.
#ifndef CLEW_HOST_SEARCH_TARGET_SEARCH_H_
#define CLEW_HOST_SEARCH_TARGET_SEARCH_H_

#include <map>
#include <set>
#include <unordered_map>

#include "host/search/guides.h"
#include "host/search/sampling.h"
#include "host/search/search.h"

namespace clew {

class TargetSearch final : public Search {
 public:
  // What it begins with: a run in lockstep, or traces that it is given.
  enum class Opening : std::uint8_t { kLockstep, kGiven };
  explicit TargetSearch(std::uint64_t seed, Opening opening = Opening::kGiven);

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  // Any traced run is welcome, whoever proposed it.
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override { return "target"; }

  // Targets that have not been tried yet.
  [[nodiscard]] std::size_t untried() const { return targets_.size() - tried_; }
  [[nodiscard]] bool has_targets() const { return !targets_.empty(); }
  // Whether the program ends while threads can still run, and whether it asks anything beside who
  // runs: half of the plans then let it not end so soon, and answer at random.
  void know(bool ends_early, bool has_questions) {
    ends_early_ = ends_early;
    has_questions_ = has_questions;
  }

 private:
  struct Thread;
  struct Target {
    int score = 0;
    std::uint64_t tie = 0;  // random order among equals
    std::vector<PlanDirective> directives;
    std::size_t hold_end = 0;  // directives before this one stop a thread; the others resume it
    bool lockstep = false;     // what runs in the meantime does so in lockstep
  };
  class Analysis;

  void add(std::uint64_t identity, int score, std::vector<PlanDirective> directives,
           std::size_t hold_end, bool lockstep);
  [[nodiscard]] JobPlan plan_of(std::span<const PlanDirective> directives, bool lockstep);
  [[nodiscard]] JobPlan combine();

  Random random_;
  Opening opening_;
  bool ends_early_ = false;
  bool has_questions_ = false;
  std::vector<Target> targets_;  // the first tried_ have been tried; the rest best first
  std::size_t tried_ = 0;
  std::set<std::uint64_t> known_targets_;
  std::map<abi::ThreadKey, std::uint64_t> kinds_;
  std::set<std::uint64_t>
      known_steps_;  // kind of thread and place: a trace with none new is not studied
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_TARGET_SEARCH_H_
