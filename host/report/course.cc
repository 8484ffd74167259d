#include "host/report/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "host/report/event_words.h"
#include "host/report/names.h"
#include "host/report/object_words.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kMostLines = 14;
constexpr std::size_t kWidth = 112;
constexpr std::size_t kLeastColumn = 18;
constexpr std::size_t kMostColumn = 44;

// Ids compare by their numbers.
bool before(const std::string& a, const std::string& b) {
  const auto numbers = [](const std::string& id) {
    std::vector<std::uint64_t> list;
    for (std::size_t at = id.find_first_of("0123456789"); at < id.size();) {
      list.push_back(std::strtoull(id.c_str() + at, nullptr, 10));
      const std::size_t dot = id.find('.', at);
      at = dot == std::string::npos ? dot : dot + 1;
    }
    return list;
  };
  const auto left = numbers(a), right = numbers(b);
  return left != right ? left < right : a < b;
}

// UTF-8: bytes that begin a character.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string fitted(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && ++shown == width) break;
  }
  return text.substr(0, end) + "…";
}

// "queue.cc:28 read head"
std::string cell_text(const EventInfo& event) {
  std::string text = "?";
  if (event.at && !event.at->file.empty())
    text =
        location_text({event.at->file.substr(event.at->file.rfind('/') + 1), event.at->line, ""});
  else if (event.at && !event.at->function.empty())
    text = printable(function_text(event.at->function));
  if (const std::string what = to_word(event.kind); !what.empty()) text += " " + what;
  if (event.lock == LockStep::kBlocked) text += " (blocked)";
  if (const std::string_view own = own_object_words(event.variable); !own.empty())
    text += fmt::format(" ({})", own);
  else if (event.name.known())
    text += " " + short_object_words(event.name);
  else if (!event.variable.empty())
    text += " " + printable(event.variable);
  return text;
}

// The lines that are next to what matters, in their order.
std::vector<std::size_t> shown_lines(const std::vector<CourseLine>& course) {
  const auto lines_with = [&course](bool CourseLine::* what) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < course.size(); ++i)
      if (course[i].*what) found.push_back(i);
    return found;
  };
  auto anchors = lines_with(&CourseLine::marked);
  if (anchors.empty()) anchors = lines_with(&CourseLine::switched);
  if (anchors.empty()) anchors.push_back(course.size() / 2);
  const auto distance = [&](std::size_t line) {
    std::size_t least = course.size();
    for (const std::size_t anchor : anchors)
      least = std::min(least, std::max(line, anchor) - std::min(line, anchor));
    return least;
  };
  std::vector<std::size_t> lines(course.size());
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = i;
  std::ranges::sort(lines, {}, [&](std::size_t i) { return std::pair(distance(i), i); });
  lines.resize(std::min(lines.size(), kMostLines));
  std::ranges::sort(lines);
  return lines;
}

struct Layout {
  std::size_t columns = 0;  // 0: all threads in one
  std::size_t clock = 5;    // widths
  std::size_t cell = 0;
};

Layout layout_of(const std::vector<CourseLine>& course, const std::vector<std::size_t>& shown,
                 const std::vector<std::string>& threads) {
  Layout layout;
  std::size_t widest = 0;
  for (const std::size_t i : shown) {
    layout.clock = std::max(layout.clock, with_commas(course[i].event.clock).size());
    widest = std::max(widest, width_of(cell_text(course[i].event)));
  }
  const std::size_t each = (kWidth - 4 - layout.clock) / std::max<std::size_t>(threads.size(), 1);
  layout.columns = each >= kLeastColumn + 2 ? threads.size() : 0;
  layout.cell = layout.columns == 0
                    ? kWidth
                    : std::clamp(widest, kLeastColumn, std::min(each - 2, kMostColumn));
  return layout;
}

std::string row_text(const Layout& layout, char mark, const std::string& clock,
                     const std::vector<std::string>& cells) {
  std::string line = fmt::format("  {} {:>{}}", mark, clock, layout.clock);
  for (const std::string& cell : cells)
    line += fmt::format("  {:<{}}", fitted(printable(cell), layout.cell), layout.cell);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::vector<std::string> threads_of(const std::vector<CourseLine>& one,
                                    const std::vector<CourseLine>& other) {
  std::vector<std::string> threads;
  for (const auto* course : {&one, &other})
    for (const CourseLine& line : *course) threads.push_back(line.event.thread);
  std::ranges::sort(threads, before);
  threads.erase(std::ranges::unique(threads).begin(), threads.end());
  return threads;
}

std::string course_text(const std::vector<CourseLine>& course,
                        const std::vector<std::string>& threads) {
  if (course.empty()) return "";
  const auto shown = shown_lines(course);
  const Layout layout = layout_of(course, shown, threads);
  std::string text;
  if (layout.columns != 0) text += row_text(layout, ' ', "clock", {threads.begin(), threads.end()});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::size_t gap = i == 0 ? shown[0] : shown[i] - shown[i - 1] - 1;
    if (gap > 0) text += fmt::format("    {:>{}}  … {}\n", "", layout.clock, counted(gap, "step"));
    const auto& [event, marked, switched] = course[shown[i]];
    std::vector<std::string> cells(std::max<std::size_t>(layout.columns, 1));
    if (layout.columns != 0)
      cells[static_cast<std::size_t>(std::ranges::find(threads, event.thread) - threads.begin())] =
          cell_text(event);
    else
      cells[0] = fmt::format("{:<8} {}", printable(event.thread), cell_text(event));
    text += row_text(layout, marked ? '*' : ' ', with_commas(event.clock), cells);
  }
  return text;
}

}  // namespace clew
