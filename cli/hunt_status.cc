#include "cli/hunt_status.h"

#include <fmt/format.h>

#include "cli/ui.h"
#include "host/report/hunt_text.h"

namespace clew::cli {

void HuntStatusLine::status(const HuntStatus& status) {
  if (line_.due(status.seconds))
    line_.draw(fmt::format("clew: {}{}", label_.empty() ? "" : label_ + ": ", status_text(status)));
}

void HuntStatusLine::found(const FoundFailure& failure) {
  if (found_ == Found::kQuiet) return;
  clear();
  print_details(fmt::format(
      "clew: schedule {}: {}{}\n", failure.first_schedule, failure_line(failure.failure),
      failure.recording ? fmt::format(", recording {}", *failure.recording) : ""));
}

void print_result_label(Outcome outcome, Doubt doubt) {
  const bool pass = outcome == Outcome::kPass;
  const bool doubtful = pass && doubt == Doubt::kYes;
  const char* text = doubtful                          ? "[PASS?]"
                     : pass                            ? "[PASS]"
                     : outcome == Outcome::kUnresolved ? "[ ?? ]"
                                                       : "[FAIL]";
  const char* code = doubtful                          ? "1;33"
                     : pass                            ? "1;32"
                     : outcome == Outcome::kUnresolved ? "1;33"
                                                       : "1;31";
  print_painted(text, code);
}

}  // namespace clew::cli
