#include "host/report/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host/report/names.h"
#include "host/report/run_text.h"
#include "host/report/threads.h"
#include "host/report/words.h"
#include "host/target/syscall_names.h"

namespace clew {
namespace {

constexpr std::size_t kAtEachEnd = 20;
constexpr std::size_t kMostPreemptions = 20;
constexpr std::size_t kLeastFunction = 8;
constexpr std::size_t kMostPlaces = 60;  // columns, where nothing limits them
constexpr std::size_t kLeastPlaces = 18;

std::string end_word(abi::SliceEnd end) {
  switch (end) {
    case abi::SliceEnd::kPreempted:
      return "preempted";
    case abi::SliceEnd::kBlocked:
      return "blocked";
    case abi::SliceEnd::kYielded:
      return "yielded";
    case abi::SliceEnd::kFinished:
      return "finished";
    case abi::SliceEnd::kRunEnded:
      break;
  }
  return "end of run";
}

std::string end_text(const RunResult& run, const SliceReport& slice, Symbolizer& symbols) {
  if (slice.end != abi::SliceEnd::kBlocked || slice.wait == abi::WaitKind::kNothing)
    return end_word(slice.end);
  return fmt::format("blocked {} {}", waiting_call(slice.wait, 0).empty() ? "on" : "in",
                     awaited_object(run, symbols, slice.wait, slice.object));
}

// "queue.cc:31": the function is left to the last place, where the reader looks.
std::string short_place(Symbolizer& symbols, abi::Place place) {
  const auto found = symbols.place(place);
  if (!found || found->at.file.empty()) return "?";
  const std::size_t slash = found->at.file.rfind('/');
  return fmt::format("{}:{}", printable(found->at.file.substr(slash + 1)), found->at.line);
}

// "queue.cc:31 .. queue.cc:40" and the function that the slice ended in.
struct Lines {
  std::string places;
  std::string function;
};

Lines lines_of(const SliceReport& slice, Symbolizer& symbols) {
  const std::string first = short_place(symbols, slice.first_place);
  const std::string last = short_place(symbols, slice.last_place);
  const auto place = symbols.place(slice.last_place);
  Lines lines{first, place ? printable(function_text(place->at.function)) : ""};
  if (last == "?") {
    if (!lines.function.empty() && first == "?") lines.places.clear();
    if (!lines.function.empty() && first != "?") lines.places += " ..";
  } else if (last != first) {
    lines.places = first == "?" ? last : first + " .. " + last;
  }
  return lines;
}

// The function gives way first; line numbers stay.
std::string lines_text(const Lines& lines, std::size_t columns) {
  if (lines.places.empty()) return cut_in_middle(lines.function, columns);
  const std::size_t used = lines.places.size() + 1;
  if (columns == 0 || used + lines.function.size() <= columns)
    return lines.function.empty() ? lines.places : lines.places + " " + lines.function;
  if (used + kLeastFunction <= columns)
    return lines.places + " " + cut_in_middle(lines.function, columns - used);
  const std::size_t between = lines.places.find(" .. ");
  if (between == std::string::npos) return cut_in_middle(lines.places, columns);
  const std::size_t half = (columns - std::min<std::size_t>(columns, 4)) / 2;
  return cut_in_middle(lines.places.substr(0, between), half) + " .. " +
         cut_in_middle(lines.places.substr(between + 4), half);
}

struct Row {
  std::string number, thread, clocks;
  Lines lines;
  std::string end;
};

Row row_of(const RunResult& run, std::size_t index, Symbolizer& symbols) {
  const SliceReport& slice = run.reports.slices[index];
  // A slice without events: the thread went straight back to waiting.
  std::string clocks = slice.last_clock < slice.first_clock
                           ? "-"
                           : fmt::format("{}-{}", slice.first_clock, slice.last_clock);
  return {std::to_string(index + 1), thread_label(run, symbols, slice.thread), std::move(clocks),
          lines_of(slice, symbols), end_text(run, slice, symbols)};
}

}  // namespace

std::vector<std::size_t> shown_slices(const std::vector<SliceReport>& slices, Length length) {
  const std::size_t count = slices.size();
  std::vector<std::size_t> preempted;
  for (std::size_t i = 0; i < count; ++i)
    if (slices[i].end == abi::SliceEnd::kPreempted) preempted.push_back(i);
  const bool few = preempted.size() <= kMostPreemptions;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < count; ++i) {
    const bool at_end = i < kAtEachEnd || i + kAtEachEnd >= count;
    const auto near = std::ranges::lower_bound(preempted, i == 0 ? 0 : i - 1);
    const bool by_switch = few && near != preempted.end() && *near <= i + 1;
    if (length == Length::kAll || at_end || by_switch) result.push_back(i);
  }
  return result;
}

std::string slices_text(const RunResult& run, Length length, Symbolizer& symbols,
                        std::size_t columns) {
  const auto shown = shown_slices(run.reports.slices, length);
  std::vector<Row> rows{{"slice", "thread", "clocks", {"first .. last line", ""}, "ended"}};
  for (const std::size_t index : shown) rows.push_back(row_of(run, index, symbols));
  const auto width = [&rows](auto&& text_of, std::size_t most) {
    std::size_t widest = 0;
    for (const Row& row : rows) widest = std::max(widest, text_of(row).size());
    return std::min(widest, most);
  };
  const std::size_t number = width([](const Row& row) { return row.number; }, 12);
  const std::size_t thread = width([](const Row& row) { return row.thread; }, 28);
  const std::size_t clocks = width([](const Row& row) { return row.clocks; }, 30);
  const std::size_t end = width([](const Row& row) { return row.end; }, 200);
  std::size_t lines = width([](const Row& row) { return lines_text(row.lines, 0); }, kMostPlaces);
  // Places and reasons share what the other columns leave.
  const std::size_t fixed = number + thread + clocks + 8;
  std::size_t reason = 0;
  if (columns != 0) {
    const std::size_t rest = columns - std::min(columns, fixed);
    // At least half for the places, more if the reasons need less.
    const std::size_t spared = rest - std::min(rest, end);
    if (lines + end > rest)
      lines = std::min(lines, std::max({spared, rest / 2, std::min(kLeastPlaces, rest)}));
    reason = rest - std::min(rest, lines);
  }
  std::string text;
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t skipped = i < 2 ? (i == 1 ? shown[0] : 0) : shown[i - 1] - shown[i - 2] - 1;
    if (skipped > 0)
      fmt::format_to(out, "{:>{}}  … {} left out, --all shows them\n", "", number,
                     counted(skipped, "slice"));
    const Row& row = rows[i];
    fmt::format_to(
        out, "{:>{}}  {:<{}}  {:<{}}  {:<{}}  {}\n", row.number, number,
        cut_in_middle(row.thread, columns == 0 ? 0 : thread), thread, row.clocks, clocks,
        lines_text(row.lines, columns == 0 ? 0 : lines), lines,
        columns == 0 ? row.end : cut_in_middle(row.end, std::max<std::size_t>(reason, 1)));
  }
  return text;
}

Json slices_json(const RunResult& run, Symbolizer& symbols) {
  const auto place_json = [&symbols](abi::Place place) {
    const auto found = symbols.place(place);
    return found ? location_json(found->at) : Json(nullptr);
  };
  Json list = Json::array();
  for (const SliceReport& slice : run.reports.slices)
    list.push_back(
        {{"thread", run.thread_id(slice.thread)},
         {"first_clock", slice.first_clock},
         {"last_clock", slice.last_clock},
         {"first", place_json(slice.first_place)},
         {"last", place_json(slice.last_place)},
         {"end", end_word(slice.end)},
         {"waits_for", slice.wait == abi::WaitKind::kNothing
                           ? Json(nullptr)
                           : Json(awaited_object(run, symbols, slice.wait, slice.object))}});
  return list;
}

}  // namespace clew
