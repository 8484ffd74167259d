// Around a strategy that decides at every point: a thread that waits in a loop takes up neither the
// run nor the strategy's decisions.
//
// A thread that has made the same few steps several times in a row, each with what it found the last
// time, waits in a loop: for another thread, or until it gives up. With priorities, some who spin
// can be preferred for millions of steps to the one that holds what they spin for; with random
// switches, a loop that gives up after some hundred times hardly ever does so before the others have
// done all they had to do. Where within the loop it is preempted makes no difference. So, after a few
// such steps, a coin decides, once for each loop:
//  - It waits: it is held back until another makes progress, unless only such threads can run.
//  - It persists: nobody else runs until it leaves the loop, but for no more than kPersistence
//    steps. After that it waits.
// How many steps are a few is drawn for each run. In one run of four no coin is tossed: a thread may
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
    std::uintptr_t object = 0;
    abi::Place place = 0;
    std::uint64_t value = 0;  // that it was about to find
    bool looked_at = false;
  };
  struct Thread {
    Seen steps[kLongestLoop];
    std::uint32_t next = 0;      // where the next is put
    std::uint64_t repeated = 0;  // steps in a row that brought nothing new
    std::uint64_t patience = 0;  // that many may, then it waits; 0: it has made no step yet
    std::uint64_t drawn = 0;     // patience in loops, where no coin is tossed; 0: to be drawn
    std::uint64_t progress = 0;  // of others, when it last ran
  };

  [[nodiscard]] bool is_held(const Candidate& candidate);
  [[nodiscard]] static Seen* find(Thread& thread, const Step& step);
  [[nodiscard]] static bool is_new(Thread& thread, const Step& step);
  [[nodiscard]] std::uint64_t draw_patience();
  void executed(const Candidate& candidate);
  void give_time(ThreadIndex index, Thread& thread);
  void follow_loop(ThreadIndex index, Thread& thread);
  [[nodiscard]] bool is_in_vain(const Thread& thread) const;
  void note_in_vain(const Thread& thread);

  static constexpr ThreadIndex kNobody = UINT32_MAX;
  static constexpr std::uint32_t kMostInVain = 32;  // places; chosen, not measured

  Loops loops_;
  Random random_;
  bool brief_;               // nobody is given time to leave a loop
  bool decides_;             // for this run: by a coin
  std::uint64_t suspicion_;  // steps that bring nothing new: a loop
  ThreadIndex persisting_ = kNobody;
  Table<Thread> threads_;
  Table<Candidate> rest_;        // of the newest pick(): those that are not held
  Table<std::uint32_t> places_;  // of these in the list that was given
  std::uint64_t progress_ = 0;   // steps of threads that have patience left
  std::uint32_t waiting_ = 0;    // threads that have none
  abi::Place in_vain_[kMostInVain] = {};
  std::uint32_t in_vain_count_ = 0;
  std::uint8_t loops_left_ = 0;  // abi::LoopsLeft
  bool held_back_ = false;       // somebody was, who would have run
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PATIENT_H_
