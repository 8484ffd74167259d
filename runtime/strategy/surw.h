// SURW: Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025,
// section 3 (URW, then its selective form).
//
// Given how many interesting steps each thread still has before it, the thread that takes the next
// interesting step is drawn with probability proportional to that number: so every interleaving
// of the interesting steps is equally likely. As long as a thread has not created those that it
// will, it counts for them too: order of program and creation make the steps a forest, whose
// linear orders are uniform if the next root is drawn by the size of its tree. The thread drawn is
// the intent. Until it has taken its interesting step, others stop before theirs; what is not
// interesting proceeds as a random walk.
//
// Parameters: none.
// Guide: abi::SurwThread for each thread, then the places of interesting steps; none: all steps
// are. With a bad guide, or none, all threads weigh the same: a random walk.
//
// Deviations:
//  - The intent is drawn among threads that can run. If it is blocked and all others stand before
//    interesting steps, it is drawn anew. (The paper's uniformity is for programs without
//    blocking.)
//  - Counts are estimates. A thread beyond its count, or that the guide does not know, weighs 1
//    while it stands before an interesting step, otherwise nothing.
//  - After kPatience steps in a row without an interesting one the intent may be waiting in a loop
//    for a thread that waits for the intent. It is then drawn anew, among those that stand before
//    an interesting step.
#ifndef CLEW_RUNTIME_STRATEGY_SURW_H_
#define CLEW_RUNTIME_STRATEGY_SURW_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class Surw final : public ChoosingStrategy {
 public:
  static constexpr std::uint32_t kPatience = 10'000;

  explicit Surw(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  struct Thread {
    std::uint64_t remaining = 0;  // interesting steps of its own and of threads not yet created
    bool known = false;
  };
  struct Estimate {
    std::uint64_t total = 0;           // own and created
    std::uint32_t index_plus_one = 0;  // in this run, once the thread has been seen
  };
  enum class Among : std::uint8_t { kAll, kBeforeInteresting };

  void executed(const Candidate& thread);
  void created(const Candidate& thread, abi::ThreadKey parent);
  bool read_guide(const abi::Job& job);
  Thread& thread_of(const Candidate& thread);
  bool interesting(const Step& step);
  std::uint64_t weight(const Candidate& thread);
  void draw_intent(const Candidates& candidates, Among among);
  // Whether it may run while the intent is what it is.
  bool free_to_go(const Candidate& thread);

  Random random_;
  Map<Estimate> estimates_;  // by thread key
  Map<bool> places_;
  Table<Thread> threads_;
  std::uint32_t intent_ = kNobody;
  std::uint32_t since_interesting_ = 0;  // steps
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_SURW_H_
