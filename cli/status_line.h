// One line on standard error for the person who waits.
#ifndef CLEW_CLI_STATUS_LINE_H_
#define CLEW_CLI_STATUS_LINE_H_

#include <chrono>
#include <string>

namespace clew::cli {

// At a terminal a line that is rewritten and goes before anything else is printed; elsewhere a line
// every ten seconds.
class StatusLine {
 public:
  // At a terminal nothing is shown in the first `quiet` seconds.
  explicit StatusLine(double quiet) : quiet_(quiet) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Whether it is time for another text; `seconds` since the beginning.
  [[nodiscard]] bool due(double seconds) const;
  void draw(const std::string& text);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  double quiet_;
  bool shown_ = false;
  Clock::time_point drawn_{};
  Clock::time_point said_ = Clock::now();
};

// Standard error is one.
bool at_terminal();

}  // namespace clew::cli

#endif  // CLEW_CLI_STATUS_LINE_H_
