#include "cli/hunt_status.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/ui.h"
#include "host/report/hunt_text.h"

namespace clew::cli {
namespace {

constexpr double kQuietSeconds = 0.3;
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(10);

bool at_terminal() {
  static const bool result = isatty(STDERR_FILENO) != 0;
  return result;
}

bool colours() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return at_terminal() && (refused == nullptr || *refused == 0) &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

// A line that wrapped could not be rewritten.
std::string fitted(std::string text) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) size.ws_col = 80;
  std::size_t end = static_cast<std::size_t>(size.ws_col) - 1;
  if (text.size() <= end) return text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

HuntStatusLine::~HuntStatusLine() { clear(); }

void HuntStatusLine::status(const HuntStatus& status) {
  const auto now = Clock::now();
  if (at_terminal() ? status.seconds < kQuietSeconds || now - drawn_ < kRedraw
                    : now - said_ < kPlainInterval)
    return;
  const std::string text =
      fmt::format("clew: {}{}", label_.empty() ? "" : label_ + ": ", status_text(status));
  drawn_ = said_ = now;
  shown_ = at_terminal();
  print_details(at_terminal() ? "\r\033[K" + fitted(text) : text + "\n");
}

void HuntStatusLine::found(const FoundFailure& failure) {
  if (found_ == Found::kQuiet) return;
  clear();
  print_details(fmt::format(
      "clew: schedule {}: {}{}\n", failure.first_schedule, failure_line(failure.failure),
      failure.recording ? fmt::format(", recording {}", *failure.recording) : ""));
}

void HuntStatusLine::clear() {
  if (std::exchange(shown_, false)) print_details("\r\033[K");
}

std::string result_label(Outcome outcome) {
  const bool pass = outcome == Outcome::kPass;
  const char* text = pass ? "[PASS]" : outcome == Outcome::kUnresolved ? "[ ?? ]" : "[FAIL]";
  const char* code = pass ? "1;32" : outcome == Outcome::kUnresolved ? "1;33" : "1;31";
  return colours() ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

}  // namespace clew::cli
