#include "cli/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "cli/ui.h"

namespace clew::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(10);

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

bool at_terminal() {
  static const bool result = isatty(STDERR_FILENO) != 0;
  return result;
}

bool StatusLine::due(double seconds) const {
  const auto now = Clock::now();
  return at_terminal() ? seconds >= quiet_ && now - drawn_ >= kRedraw
                       : now - said_ >= kPlainInterval;
}

void StatusLine::draw(const std::string& text) {
  drawn_ = said_ = Clock::now();
  shown_ = at_terminal();
  if (at_terminal())
    redraw_line(fitted(text));
  else
    print_details(text + "\n");
}

void StatusLine::clear() {
  if (std::exchange(shown_, false)) redraw_line("");
}

}  // namespace clew::cli
