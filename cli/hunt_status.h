// The hunt while it goes on, for the person who waits.
#ifndef CLEW_CLI_HUNT_STATUS_H_
#define CLEW_CLI_HUNT_STATUS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "host/outcome.h"
#include "host/search/hunt.h"

namespace clew::cli {

// At a terminal one line on standard error that is rewritten and goes before anything else is
// printed; elsewhere a line every ten seconds.
class HuntStatusLine : public HuntObserver {
 public:
  enum class Found : std::uint8_t {
    kAnnounce,
    kQuiet
  };  // each new failure at once, or only at the end
  explicit HuntStatusLine(Found found) : found_(found) {}
  ~HuntStatusLine() override;
  HuntStatusLine(const HuntStatusLine&) = delete;
  HuntStatusLine& operator=(const HuntStatusLine&) = delete;

  void status(const HuntStatus& status) override;
  void found(const FoundFailure& failure) override;
  // Stands before the figures: "3 of 10, Queue.Push".
  void set_label(std::string label) { label_ = std::move(label); }
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Found found_;
  std::string label_;
  bool shown_ = false;
  Clock::time_point drawn_{};
  Clock::time_point said_ = Clock::now();
};

// "[PASS]", "[FAIL]" or "[ ?? ]", in colour at a terminal.
std::string result_label(Outcome outcome);

}  // namespace clew::cli

#endif  // CLEW_CLI_HUNT_STATUS_H_
