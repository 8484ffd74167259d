// Around a strategy that decides at every point: a thread that waits in a loop takes up neither the
// run nor the strategy's decisions.
//
// A thread that has made the same few steps several times in a row, each with what it found the last
// time, waits in a loop: for another thread, or until it gives up. With priorities, some who spin
// can be preferred for millions of steps to the one that holds what they spin for; with random
// switches, a loop that gives up after some hundred times hardly ever does so before the others have
// done all they had to do. Where within the loop it is preempted makes no difference. So, after a few
// such steps, a coin decides, once for each loop:
//  - It waits: it is held back until another makes progress, unless only such threads can run. If that
//    progress writes to nothing that the loop looks at, another round would find what the last one found:
//    it is let in now and then only, for what cannot be seen here (a count of rounds, a clock).
//  - It persists: nobody else runs until it leaves the loop, but for no more than kPersistence
//    steps, and no longer than a thread may run at a time. After that it waits.
// How many steps are a few is drawn for each run; where a thread of this run has been in a loop, the
// fewest are enough (each round may wait for some thousand points by itself). In one run of four no coin is tossed: a thread may
// make some hundred such steps, drawn anew for each thread and run, seldom very many, until it waits.
//
// Most loops that wait are not left before another thread has done something. A place where a thread
// was given the time in vain is remembered for the rest of the run, and nobody is given any there
// again; and the host, which is told (loops()), asks for runs in which nobody is given any
// (abi::kJobBriefWaits): several threads that spin for one lock would otherwise take most of the time.
#ifndef CLEW_RUNTIME_STRATEGY_PATIENT_H_
#define CLEW_RUNTIME_STRATEGY_PATIENT_H_

#include "runtime/strategy/choices.h"
#include "runtime/strategy/wrapper.h"

namespace clew::rt {

class Patient final : public Wrapper {
 public:
  enum class Loops : std::uint8_t {
    kDecided,
    kCountedOnce,  // and the strategy inside, which counts steps, is not told of further rounds
    kRunThrough,  // of a strategy that holds threads on purpose (plan): no coin is tossed, and a loop
                  // that gives up after some hundred times does so while the other is held
    kWaitedOut,  // of a systematic strategy (prefix): nothing is random, a thread waits always
  };
  // Chosen, not measured: loops that give up do so after fewer steps, and so many cost microseconds.
  static constexpr std::uint64_t kPersistence = 2048;

  Patient(Strategy& inside, const abi::Job& job, Loops loops = Loops::kDecided);

  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;
  std::uint8_t loops() const override { return loops_left_; }
  std::uint8_t uncovered() const override {
    return static_cast<std::uint8_t>(Wrapper::uncovered() |
                                     (held_back_ ? abi::kUncoveredRounds : 0));
  }

 private:
  static constexpr std::uint64_t kSalt = 0x9a71e27;
  static constexpr std::uint32_t kLongestLoop = 8;  // steps
  struct Seen {
    Step step;
    std::uint64_t value = 0;  // that it was about to find
    bool looked_at = false;
    std::uint64_t streak = 0;  // in which it was looked at
  };
  struct Thread {
    Seen steps[kLongestLoop];
    std::uint32_t next = 0;       // where the next is put
    std::uint64_t repeated = 0;   // steps in a row that brought nothing new
    std::uint64_t streak = 1;     // the number of this row
    std::uint64_t ran = 0;        // when it last did, in steps of all
    std::uint64_t suspicion = 0;  // that many are a loop
    std::uint64_t patience = 0;   // that many may, then it waits; 0: it has made no step yet
    std::uint64_t drawn = 0;      // patience in loops, where no coin is tossed; 0: to be drawn
    std::uint64_t progress = 0;   // of others, when it last ran
    std::uint32_t stirred = 0;    // steps until it has seen what others wrote since, if it waits
    Step stirred_by;              // sooner, once it looks at this; no object: there were several
  };

  [[nodiscard]] bool is_held(const Candidate& candidate);
  [[nodiscard]] static Seen* find(Thread& thread, const Step& step);
  [[nodiscard]] static bool is_new(Thread& thread, const Step& step);
  [[nodiscard]] std::uint64_t draw_patience();
  void note_turn(const Occurrence& occurrence);
  void executed(const Candidate& candidate);
  [[nodiscard]] static bool is_of_loop(const Thread& thread, const Seen& seen) {
    return seen.looked_at && seen.streak == thread.streak;
  }
  [[nodiscard]] std::uint32_t longest_away(const Candidates& candidates);
  [[nodiscard]] bool waits_for(const Thread& thread, const Step& step) const;
  void note_write(const Candidate& writer);
  void stir();
  void give_time(ThreadIndex index, Thread& thread);
  void suspect(Thread& thread);
  void follow_loop(ThreadIndex index, Thread& thread);

  // Places of a run, the first so many.
  class Places {
   public:
    // That a loop looks at.
    [[nodiscard]] bool has_one_of(const Thread& loop) const;
    void add(const Thread& loop);

   private:
    static constexpr std::uint32_t kMost = 32;  // chosen, not measured
    abi::Place list_[kMost] = {};
    std::uint32_t count_ = 0;
  };

  static constexpr ThreadIndex kNobody = UINT32_MAX;

  Loops loops_;
  Random random_;
  bool brief_;               // nobody is given time to leave a loop
  bool decides_;             // for this run: by a coin
  std::uint64_t suspicion_;  // steps that bring nothing new: a loop
  ThreadIndex persisting_ = kNobody;
  Clock turn_began_ = 0;  // the first event of who runs
  Table<Thread> threads_;
  Seen write_;                   // the newest step, if it writes, and what was there before
  Table<Candidate> rest_;        // of the newest pick(): those that are not held
  Table<std::uint32_t> places_;  // of these in the list that was given
  std::uint64_t steps_ = 0;
  std::uint64_t progress_ = 0;   // steps of threads that have patience left
  std::uint32_t waiting_ = 0;    // threads that have none
  Places loops_seen_;            // where a thread was in a loop
  Places in_vain_;               // ... and was given time in vain
  std::uint8_t loops_left_ = 0;  // abi::LoopsLeft
  bool held_back_ = false;       // somebody was, who would have run
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PATIENT_H_
