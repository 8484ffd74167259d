// PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs", ASPLOS 2010, section 3.
//
// Threads have random priorities and the highest runs. At d - 1 random steps out of k the thread
// that is about to run falls below all that have not fallen: to priority d - i at the i-th change
// point drawn, which need not be the i-th in time. A bug of depth d in a program of n threads and
// k steps is hit with probability at least 1 / (n k^(d-1)).
//
// Parameters: kPctDepth: the depth d, at least 1; kPctSteps: the estimated number of steps k, at
// least 1.
//
// Guide: none.
//
// Deviations:
//  - Change points are distinct steps (Floyd's sampling); where two fall together one is lost.
//  - The change comes before the k_i-th step, not after it: the thread that would take it is held
//    up there. So each of the k steps can be the one that is held up, the first included.
//  - A thread that takes kSpinSteps steps in a row while others could run, all at a few places and
//    objects, is taken to wait for another in a loop, and falls below all. Without that such
//    programs hang. A loop that counts a single variable up that often is taken for waiting too.
//    So is one that yields voluntarily kSpinYields times: two that do would run in turn for
//    ever, above the one that they wait for.
//  - Priorities are drawn when a thread is first seen: 62 random bits are as good as a place in a
//    random permutation.
#ifndef CLEW_RUNTIME_STRATEGY_PCT_H_
#define CLEW_RUNTIME_STRATEGY_PCT_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class Pct final : public ChoosingStrategy {
 public:
  static constexpr std::uint32_t kSpinSteps = 1000;
  static constexpr std::uint32_t kSpinYields = 100;
  static constexpr std::uint32_t kSpinPlaces = 8;
  static constexpr std::uint64_t kMostChanges = 1024;

  explicit Pct(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;

 private:
  struct Thread {
    // Drawn: from 2^62 up. After a change point: 1..d-1. After spinning: below 0. 0: not drawn yet.
    std::int64_t priority = 0;
    std::uint32_t yields = 0;  // since it fell
  };
  struct Change {
    std::uint64_t step;
    std::int64_t priority;
  };

  void executed(const Candidate& thread);
  void yielded(const Candidate& thread);
  void draw_changes(std::uint64_t depth, std::uint64_t steps);
  std::int64_t& priority_of(std::uint32_t index);
  std::uint32_t highest(const Candidates& candidates);
  // The change due before step number steps_ + 1, if it has not been made.
  const Change* due_change() const;
  void watch_spinning(const Candidate& thread);

  Random random_;
  Table<Thread> threads_;

  Change* changes_ = nullptr;  // by step
  std::uint32_t changes_count_ = 0;
  std::uint32_t next_change_ = 0;
  std::uint64_t steps_ = 0;  // executed

  // The steps of one thread in a row, and where they were.
  std::uint32_t spinner_ = UINT32_MAX;
  std::uint32_t spin_steps_ = 0;
  std::uint32_t spin_places_count_ = 0;
  std::uint64_t spin_places_[kSpinPlaces] = {};
  std::int64_t lowest_ = 0;
  bool contended_ = false;  // others could have run
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PCT_H_
