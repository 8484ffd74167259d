// RFF: Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing for Concurrency Testing",
// ASPLOS 2024: the scheduler that follows an abstract schedule. (The fuzzer that makes
// abstract schedules is the host's.)
//
// An abstract schedule is a set of constraints "the read at place r reads what was written at place
// w" (positive) or "... does not" (negative). The order is that of POS, but
//  - a read that meets a positive constraint now goes first;
//  - a read at r waits while the last write to its address is not by w, or, for a negative
//    constraint, while it is;
//  - once w has written, other writes to the address wait until the read at r has been;
//  - while an initial value is asked for, the first write to an address waits if it is at a rival's
//    place: one that writes to what is to be read. (The host knows them from traces. If it names
//    none, any first write waits, up to kMostFirstWrites of them.)
// A positive constraint is done with when it has been met once; a negative one holds for the run.
// Waiting is a matter of preference: if all who can run would have to wait, POS decides, and a step
// does not wait for more than kPatience steps of others, who may be waiting for it in a loop.
//
// Parameters: none.
// Guide: abi::RffConstraint for each constraint, then the places of the rivals.
// With a bad guide, or none: POS.
//
// Deviations: in the paper an event is an access to a variable at a place; here it is the place,
// and the variable is the address met at run time. An access that overlaps another without
// beginning where it begins is not seen as one of the same variable. Preferring and delaying stand
// for the paper's automata, one for each constraint.
#ifndef CLEW_RUNTIME_STRATEGY_RFF_H_
#define CLEW_RUNTIME_STRATEGY_RFF_H_

#include "runtime/strategy/choices.h"
#include "runtime/strategy/pos.h"

namespace clew::rt {

class Rff final : public Strategy {
 public:
  static constexpr std::uint32_t kPatience = 1000;
  static constexpr std::uint32_t kMostFirstWrites = 64;

  explicit Rff(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;
  Choice choose(const Question& question) override { return pos_.choose(question); }
  void learn(const Occurrence& occurrence) override;

 private:
  struct Constraint {
    abi::Place write;  // 0: the initial value
    abi::Place read;
    bool negative;
    bool met;  // positive only
  };
  struct Thread {
    std::uint64_t waits_since = 0;  // steps_ + 1 when its pending step was first made to wait
    bool first_write = false;       // ... because it is the first to its address
  };
  enum class Urge : std::uint8_t { kWaits, kOrdinary, kGoesFirst };

  void executed(const Candidate& thread);
  bool read_guide(const abi::Job& job);
  Urge urge(const Candidate& thread);
  Urge urge_of_read(const Step& step);
  bool write_waits(const Step& step, Thread& thread);
  bool first_write_waits(const Step& step, Thread& thread);
  // Where the last write to the address was; 0: there was none.
  abi::Place last_write(std::uintptr_t object);
  void wrote(const Step& step);

  Pos pos_;
  Constraint* constraints_ = nullptr;
  std::uint32_t constraints_count_ = 0;
  std::uint32_t unmet_ = 0;          // positive ones
  std::uint32_t unmet_initial_ = 0;  // of them: those of the initial value
  bool all_writes_matter_ = false;   // not only those at places of constraints

  Map<bool> rivals_;             // by place
  Map<abi::Place> last_writes_;  // by address
  Table<Thread> threads_;
  std::uint64_t steps_ = 0;
  std::uint32_t first_writes_left_ = kMostFirstWrites;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_RFF_H_
