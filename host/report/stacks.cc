#include "host/report/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "host/recording/file.h"
#include "host/report/names.h"
#include "host/report/run_text.h"
#include "host/report/threads.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::uint32_t kLinesAround = 2;
constexpr std::size_t kMostLine = 160;
constexpr std::uint64_t kMostSource = std::uint64_t{64} << 20;  // SQLite's one file has 9 MB

std::string at_text(const ThreadPosition& position) {
  return position.at ? location_text(*position.at) : "unknown place";
}

// The place may lie in a function that was inlined, of which the return addresses know nothing.
std::vector<SourceFrame> with_place(const ThreadPosition& position) {
  std::vector<SourceFrame> stack = position.stack;
  if (!position.at || position.at->file.empty()) return stack;
  const auto same = [&](const SourceFrame& frame) {
    return frame.file == position.at->file &&
           short_function(frame.function) == short_function(position.at->function);
  };
  if (std::ranges::any_of(stack, same)) return stack;
  SourceFrame frame{position.at->function, position.at->file, position.at->line, 0, "", 0, 0};
  // Below the frames of libraries that it calls.
  stack.insert(std::ranges::find_if(stack, is_user_code), std::move(frame));
  return stack;
}

}  // namespace

std::string excerpt(const Location& location) {
  if (location.line == 0) return "";
  // Debug information says what the file is: it may be any, or none.
  const auto bytes = read_file_start(location.file, kMostSource);
  if (!bytes) return "";
  std::string_view rest(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  std::string text;
  auto out = std::back_inserter(text);
  for (std::uint64_t number = 1;
       number <= std::uint64_t{location.line} + kLinesAround && !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string line(rest.substr(0, std::min(end, kMostLine)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (number + kLinesAround < location.line) continue;
    for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t'))
      line.replace(tab, 1, "    ");
    fmt::format_to(out, "  {} {:>5} | {}\n", number == location.line ? ">" : " ", number,
                   printable(std::string_view(line).substr(0, kMostLine)));
  }
  return text;
}

std::string moment_text(const RunResult& run, const Moment& moment, Symbolizer& symbols) {
  if (!moment.running)
    return fmt::format("clock {}: no thread was seen there\n", with_commas(moment.clock));
  const ThreadPosition& running = *moment.running;
  std::string text = fmt::format("clock {}: {} at {}\n", with_commas(moment.clock),
                                 thread_label(run, symbols, running.thread), at_text(running));
  if (running.at) text += excerpt(*running.at);
  text += stack_text(with_place(running), "    ");
  for (const ThreadPosition& other : moment.others)
    text += fmt::format("  {} stands at {}\n", thread_label(run, symbols, other.thread),
                        at_text(other));
  return text;
}

Json moment_json(const RunResult& run, const Moment& moment) {
  const auto position_json = [&run](const ThreadPosition& position) {
    const Location at = position.at.value_or(Location{});
    return Json{{"thread", run.thread_id(position.thread)},
                {"file", at.file},
                {"line", at.line},
                {"function", at.function},
                {"short", short_function(at.function)},
                {"stack", stack_json(position.stack)}};
  };
  Json json{{"clock", moment.clock}};
  if (moment.running)
    json.update(position_json(*moment.running));
  else
    json.update({{"thread", nullptr},
                 {"file", ""},
                 {"line", 0},
                 {"function", ""},
                 {"short", ""},
                 {"stack", Json::array()}});
  json["others"] = Json::array();
  for (const ThreadPosition& other : moment.others) json["others"].push_back(position_json(other));
  return json;
}

}  // namespace clew
