#include "cli/hunt_status.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "cli/ui.h"
#include "host/report/hunt_text.h"

namespace clew::cli {
namespace {

bool colours() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return at_terminal() && (refused == nullptr || *refused == 0) &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

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

std::string result_label(Outcome outcome, Doubt doubt) {
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
  return colours() ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

}  // namespace clew::cli
