// Which scheduling points of a long run the strategy is asked at.
//
// Asking costs some thirty times what passing a point does. So a run whose strategy samples
// (Manner::may_coast) is decided on at every scheduling point up to kDecidedInFull of them. From then
// on short stretches in which each is decided on alternate with long ones that are passed at full
// speed, in which a thread runs until it is blocked, or for a whole fair slice. A stretch has 1 to 512
// points, all orders of magnitude alike, and the one behind it about kPassed times as many. That
// follows from the job's seed and its events, and so is the same whenever the job is run.
#ifndef CLEW_RUNTIME_SCHED_COASTING_H_
#define CLEW_RUNTIME_SCHED_COASTING_H_

#include "runtime/random.h"
#include "runtime/rt.h"

namespace clew::rt {

class Coasting {
 public:
  // Runs of most tests have fewer points. Chosen, with kPassed, so that a schedule of 2 million points
  // takes at most 1.3 times as long as a run without a strategy (bench/hunt/cost --against-run).
  static constexpr std::uint64_t kDecidedInFull = 20'000;
  static constexpr std::uint64_t kPassed = 150;
  // The same of a run that is to be traced, whose trace is left out if it has more points. Chosen, not
  // measured: what a search learns from a longer one is not worth the time.
  static constexpr std::uint64_t kTracedInFull = 50'000;

  // In a new run, after so many points. Otherwise it never does.
  void allow(std::uint64_t seed, std::uint64_t points) {
    state_ = seed ^ kStream;
    points_ = points;
  }

  // Points are passed without asking, up to the event until().
  bool on() const { return until_ != 0; }
  Clock until() const { return until_; }

  // The strategy has been asked at a scheduling point, at `event`. Whether it coasts from there on.
  bool asked(Clock event) {
    if (points_ == 0 || --points_ != 0) return false;
    next_ = std::uint64_t{1} << below(kSizes);
    until_ = event + 1 + below(2 * kPassed * next_);
    return true;
  }
  void stop() {
    until_ = 0;
    points_ = next_;
  }

 private:
  static constexpr std::uint64_t kStream = 0xc0a5'7196;
  static constexpr std::uint64_t kSizes = 10;  // of stretches: 1, 2, 4, ... 512 points

  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bound) * split_mix(state_)) >>
                                      64);
  }

  std::uint64_t state_ = 0;
  std::uint64_t points_ = 0;  // to be decided on before it coasts; 0: it does not
  std::uint64_t next_ = 0;    // the same of the stretch that follows
  Clock until_ = 0;           // 0: it does not coast now
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_COASTING_H_
