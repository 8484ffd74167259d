// When a command has to be done (--time): one moment for all that the process does.
//
// Every wait for a program under test (run_target(), ServedProgram, run_command()) is over then, by
// ending the program, and long computations ask between their steps. So no stage can forget the limit
// of the whole, and none has seconds of its own beyond it. How long a search takes is another matter:
// HuntOptions::seconds and IsolateOptions::seconds end it earlier, so that what it found can be kept.
//
// Thread safety: any thread may ask. Limits are made and destroyed by the one that runs the command.
#ifndef CLEW_HOST_TIME_LIMIT_H_
#define CLEW_HOST_TIME_LIMIT_H_

#include <algorithm>
#include <atomic>
#include <limits>

#include "host/seconds.h"

namespace clew {

class TimeLimit {
 public:
  // So many seconds from now, but no later than a limit that holds already; 0: no other than that.
  explicit TimeLimit(double seconds) : before_(at_.load()) {
    if (seconds > 0) at_ = std::min(before_, seconds_now() + seconds);
  }
  ~TimeLimit() { at_ = before_; }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Of a search that is to end after so many seconds, with what it keeps; 0: none.
  static double with_keeping(double seconds) {
    return seconds > 0 ? seconds + seconds_to_keep(seconds) : 0;
  }

  [[nodiscard]] static bool is_over() { return seconds_now() >= at_.load(); }
  // Infinite without a limit.
  [[nodiscard]] static double seconds_left() { return std::max(0.0, at_.load() - seconds_now()); }

 private:
  static inline std::atomic<double> at_ = std::numeric_limits<double>::infinity();

  double before_;
};

}  // namespace clew

#endif  // CLEW_HOST_TIME_LIMIT_H_
