// The status line of a hunt while it runs.
#ifndef CLEW_CLI_HUNT_STATUS_H_
#define CLEW_CLI_HUNT_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "cli/status_line.h"
#include "host/outcome.h"
#include "host/search/hunt.h"

namespace clew::cli {

class HuntStatusLine : public HuntObserver {
 public:
  enum class Found : std::uint8_t {
    kAnnounce,
    kQuiet
  };  // each new failure at once, or only at the end
  explicit HuntStatusLine(Found found) : found_(found) {}

  void status(const HuntStatus& status) override;
  void found(const FoundFailure& failure) override;
  // Stands before the figures: "3 of 10, Queue.Push".
  void set_label(std::string label) { label_ = std::move(label); }
  void clear() { line_.clear(); }

 private:
  Found found_;
  std::string label_;
  StatusLine line_{0.3};
};

// Prints "[PASS]", "[PASS?]" if there is doubt, "[FAIL]" or "[ ?? ]", in colour at a terminal.
enum class Doubt : std::uint8_t { kNo, kYes };
void print_result_label(Outcome outcome, Doubt doubt);

}  // namespace clew::cli

#endif  // CLEW_CLI_HUNT_STATUS_H_
