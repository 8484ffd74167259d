#include "cli/show_trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/replay_report.h"
#include "cli/traced.h"
#include "cli/ui.h"
#include "host/model/code_map.h"
#include "host/names/run_names.h"
#include "host/observe/executed_lines.h"
#include "host/observe/run_trace.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_names.h"
#include "host/report/access_words.h"
#include "host/report/words.h"
#include "host/symbolize/symbolizer.h"

namespace clew::cli {
namespace {

// Points before the end that are shown if nothing else is asked for.
constexpr std::uint64_t kLastPoints = 10;

ClockWindow window_of(const TracePart& part, std::uint64_t end) {
  ClockWindow window;
  window.to = std::min(part.to.value_or(end), end);
  window.from = part.from.value_or(window.to > kLastPoints ? window.to - kLastPoints : 0);
  return window;
}

Result<void> check_window(ClockWindow window, std::uint64_t end) {
  if (window.from > end)
    return fail(ErrorCode::kUsage, fmt::format("clock {} is past the end of the run, {}",
                                               with_commas(window.from), with_commas(end)));
  if (window.from > window.to)
    return fail(ErrorCode::kUsage, "--from is behind --to", "clew show --trace --from 60 --to 80");
  return {};
}

void tell(Kept& kept, const std::string& name, ClockWindow window, const TracePart& part,
          Json& json) {
  CodeMap code(kept.run.reports.maps);
  kept.trace.finish(std::move(kept.blocks), code);
  Symbolizer symbols(kept.run.reports);
  RunNames run_names(symbols);
  TraceNames names(kept.trace, kept.run, symbols, run_names);
  const ExecutedLines lines = executed_lines(kept.trace, window, part.most, symbols, names);
  json = {{"from", window.from},
          {"to", window.to},
          {"whole", kept.whole},
          {"total", lines.total},
          {"lines", executed_json(lines, kept.run.reports.threads)}};
  std::string text = fmt::format("{} from clock {} to {}: {}\n", name, with_commas(window.from),
                                 with_commas(window.to), counted(lines.total, "line"));
  if (!kept.whole)
    text +=
        "  what was called or allocated before is not known: local variables of such functions "
        "and\n  such memory have no names\n";
  if (lines.total > 0) text += executed_text(lines, kept.run.reports.threads);
  print_result(text);
}

Result<int> show_file(const std::string& path, const TracePart& part, const std::string& target) {
  CLEW_TRY(auto file, TraceFile::open(path));
  const TraceInfo& info = file.info();
  const ClockWindow window = window_of(part, std::min(info.clock, info.window.to));
  CLEW_CHECK_OK(check_window(window, info.clock));
  Kept kept;
  // For names all that comes before is needed, if there is room.
  ClockWindow read{info.window.from, window.to};
  if (file.raw_bytes(read) > kMostKept) read.from = window.from;
  kept.whole = read.from == 0;
  CLEW_CHECK_OK(file.read(read, kept.trace));
  if (kept.trace.too_long()) return too_long();
  kept.blocks = file.blocks();
  kept.run.reports.threads = info.threads;
  kept.run.reports.maps = info.maps;
  Json json;
  tell(kept, printable(path), window, part, json);
  json["file"] = path;
  json["recording"] = info.recording;
  CLEW_CHECK_OK(write_json(target, json));
  return 0;
}

Result<int> show_recording(const std::string& selector, const TracePart& part,
                           const std::string& target) {
  CLEW_TRY(auto replay, prepare_replay(selector));
  const std::uint64_t end = replay.recording.meta.summary.clock;
  const ClockWindow window = window_of(part, end);
  CLEW_CHECK_OK(check_window(window, end));
  replay.plan.output = OutputMode::kCaptureOnly;
  replay.plan.queries = {end};  // with it comes where code lies
  Kept kept;
  CLEW_TRY(const int status, trace_part(replay, window, kept));
  if (status != 0) return status;
  Json json;
  tell(kept, recording_name(replay.recording), window, part, json);
  json["recording"] = replay.recording.number;
  CLEW_CHECK_OK(write_json(target, json));
  return 0;
}

}  // namespace

Result<int> show_trace(const std::string& what, const TracePart& part, const std::string& json) {
  std::error_code error;
  if (!what.empty() && std::filesystem::is_regular_file(what, error))
    return show_file(what, part, json);
  return show_recording(what, part, json);
}

}  // namespace clew::cli
