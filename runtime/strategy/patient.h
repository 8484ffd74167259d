// Around a strategy that decides by priorities: a thread that waits in a loop does not keep the one
// that it waits for from running.
//
// With priorities, some who spin can be preferred for millions of steps to the one that holds what
// they spin for: it runs when its priority happens to be above the new ones of all of them. A thread
// that has made the same few steps many times, each with what it found the last time, is held back
// until another makes progress, unless only such threads can run. How many times is drawn anew for
// each thread and run, seldom very many: a loop that gives up after a thousand times is also run to
// its end while the others stand.
#ifndef CLEW_RUNTIME_STRATEGY_PATIENT_H_
#define CLEW_RUNTIME_STRATEGY_PATIENT_H_

#include "runtime/strategy/choices.h"
#include "runtime/strategy/wrapper.h"

namespace clew::rt {

class Patient final : public Wrapper {
 public:
  // Chosen, not measured: few loops that work are that regular, and so many steps cost microseconds.
  static constexpr std::uint64_t kLeastPatience = 256;
  // Of a strategy that holds threads on purpose (plan): a loop that gives up after some hundred times
  // does so while the other is held.
  static constexpr std::uint64_t kPatienceWithHolds = 4096;

  Patient(Strategy& inside, std::uint64_t seed, std::uint64_t least = kLeastPatience)
      : Wrapper(inside), least_(least), random_(seed ^ kSalt) {}

  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;

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
    std::uint64_t patience = 0;  // that many may; 0: to be drawn
    std::uint64_t progress = 0;  // of others, when it last ran
  };

  [[nodiscard]] bool is_held(const Candidate& candidate);
  [[nodiscard]] static Seen* find(Thread& thread, const Step& step);
  [[nodiscard]] static bool is_new(Thread& thread, const Step& step);
  void executed(const Candidate& candidate);

  std::uint64_t least_;
  Random random_;
  Table<Thread> threads_;
  Table<Candidate> rest_;        // of the newest pick(): those that are not held
  Table<std::uint32_t> places_;  // of these in the list that was given
  std::uint64_t progress_ = 0;   // steps of threads that have patience left
  std::uint32_t waiting_ = 0;    // threads that have none
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PATIENT_H_
