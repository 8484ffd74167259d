// Noise: delays at chosen points, over a schedule that would otherwise hardly switch (Edelstein et
// al., "Multithreaded Java program test generation", 2002; Tzoref, Ur, Yom-Tov, "Instrumenting where
// it hurts", 2007).
//
// Without noise a thread runs until it blocks, ends or yields, and then the longest ready one does;
// only a thread that has passed tens of thousands of points in a row is preempted (Scheduler: the
// slice of fairness). All runs without noise are therefore the same.
//
// Each time that a thread comes to a chosen point, noise is made with a given probability: by the
// toss of a coin before the event or after it, which is before the next scheduling point of the
// thread. Two kinds:
//  - a yield: the thread lets those run that are ready, and runs again when these block or have
//    noise themselves;
//  - a delay: the thread is not chosen for a while, and then preempts whoever runs, as a thread does
//    whose sleep is over. Time is counted in scheduling points passed by all threads; if all who
//    could run are delayed, it jumps to the end of the delay that ends first. The length is
//    log-uniform over kShortestDelay..kLongestDelay.
// Noise is nothing but the choice of who runs: every schedule is one that the program may meet.
// Also before a step that a thread comes to while another one runs: its first one, and the lock that it
// takes again after a wait. Points that are not chosen take no draw of chance. A delay may outlast a sleep of the program, or a
// time limit: whoever begins to wait for a time while another thread is delayed is woken at once by
// the toss of a coin. All other questions have the default answer.
//
// Parameters: kNoisePercent: the probability, in percent; 0 means kPercent. kNoiseYields: of those,
// the percentage of yields, plus 1; 0 means kYields. kNoiseDensity: without a guide, the percentage
// of points that are chosen, by the seed; 0 means all.
// kNoiseSides: not 0: no coin is tossed about before or after; abi::noise_comes_after says it of each point.
// Guide: the chosen points.
#ifndef CLEW_RUNTIME_STRATEGY_NOISE_H_
#define CLEW_RUNTIME_STRATEGY_NOISE_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class Noise final : public Strategy {
 public:
  // Chosen such that one point that matters shows in nearly every run, and still not in each.
  static constexpr std::uint64_t kPercent = 95;
  static constexpr std::uint64_t kYields = 50;
  // As powers of two: between a few steps of another thread and more than most tests have.
  static constexpr std::uint64_t kShortestDelay = 4;
  static constexpr std::uint64_t kLongestDelay = 12;

  explicit Noise(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;
  bool continues(const Candidate& running) override;
  Choice choose(const Question& question) override;
  void learn(const Occurrence& occurrence) override;

 private:
  enum class State : std::uint8_t { kReady, kYields, kDelayed };
  struct Thread {
    std::uint64_t until = 0;  // kDelayed
    State state = State::kReady;
    bool tossed = false;  // for the point that it stands before
    bool after = false;   // noise is made once it has passed that point
  };

  [[nodiscard]] bool read_guide(const abi::Job& job);
  [[nodiscard]] bool is_chosen(abi::Place place);
  [[nodiscard]] bool is_another_delayed();
  [[nodiscard]] bool comes_after(abi::Place place);
  void toss(const Candidate& candidate);
  [[nodiscard]] bool has_noise_now(const Candidate& candidate);
  void make_noise(Thread& thread);
  void end_delays(const Candidates& candidates, std::uint32_t& woken);
  [[nodiscard]] std::uint32_t first_to_wake(const Candidates& candidates);

  static constexpr std::uint32_t kNobody = UINT32_MAX;

  Random random_;
  std::uint64_t seed_;
  std::uint64_t percent_;
  std::uint64_t yields_;
  std::uint64_t density_;
  std::uint64_t sides_;
  Map<bool> chosen_;
  bool everywhere_;  // there is no guide
  Table<Thread> threads_;
  ThreadIndex running_ = 0;
  ThreadIndex known_ = 0;            // threads
  std::uint64_t now_ = 0;            // scheduling points passed
  std::uint64_t next_end_ = kNever;  // of a delay; at the earliest
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_NOISE_H_
