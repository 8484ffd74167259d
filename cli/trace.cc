// clew trace: a recording run again, with all that its code does looked at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/replay_report.h"
#include "cli/traced.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/model/code_map.h"
#include "host/names/object_name.h"
#include "host/names/run_names.h"
#include "host/observe/block_table.h"
#include "host/observe/line_history.h"
#include "host/observe/run_trace.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_names.h"
#include "host/observe/traced_replay.h"
#include "host/report/access_words.h"
#include "host/report/object_words.h"
#include "host/report/perfetto.h"
#include "host/report/words.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"
#include "host/target/interrupts.h"
#include "host/target/replay.h"

namespace clew::cli {
namespace {

struct TraceOptions {
  std::string recording;
  std::string at;
  std::uint64_t most = 100;
  std::string file;  // -o
  std::string perfetto;
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;
  std::uint64_t most_bytes = std::uint64_t{16} << 30;
  std::string json;

  [[nodiscard]] ClockWindow window() const { return {from, to}; }
};

std::string count_text(const Replay& replay, const TracedReplay& traced,
                       const RunFigures& figures) {
  return fmt::format(
      "clew: traced {}: same outcome, output and hash ({})\n"
      "  {} in {} of {}, {}, {}; {}\n",
      recording_name(replay.recording), counted(traced.run.summary.clock, "point"),
      counted(figures.instructions, "instruction"), counted(figures.blocks, "block"),
      counted(figures.threads, "thread"), counted(figures.reads, "read"),
      counted(figures.writes, "write"), counted(traced.bytes, "byte"));
}

Json count_json(const Replay& replay, const TracedReplay& traced, const RunFigures& figures) {
  Json json = json_of(replay, traced);
  json["instructions"] = figures.instructions;
  json["blocks"] = figures.blocks;
  json["threads"] = figures.threads;
  json["reads"] = figures.reads;
  json["writes"] = figures.writes;
  return json;
}

// Whoever takes parts, as a sink.
template <class Taker>
TracePartSink part_of(Taker& taker) {
  return
      [&taker](std::span<const std::uint8_t> records, const std::deque<TranslatedBlock>& blocks) {
        return taker.part(records, blocks);
      };
}

Result<int> count_all(const Replay& replay, const TraceOptions& options) {
  RunCounter counter;
  ProgressLine progress;
  CLEW_TRY(const auto traced,
           run_traced_replay(replay, TraceDetail::kAccesses, progress, part_of(counter)));
  progress.clear();
  const RunFigures figures = counter.figures(traced.blocks);
  if (check_traced(replay, traced)) print_details(count_text(replay, traced, figures));
  if (traced.run.interrupted_by != 0) return status_of(traced);
  CLEW_CHECK_OK(write_json(options.json, count_json(replay, traced, figures)));
  return status_of(traced);
}

// A run whose trace cannot be written need not proceed.
class WhileWriting final : public ProgressLine {
 public:
  explicit WhileWriting(const TraceFileWriter& writer) : writer_(writer) {}
  bool time_is_up() override { return writer_.has_failed(); }

 private:
  const TraceFileWriter& writer_;
};

Result<int> keep(Replay& replay, const TraceOptions& options) {
  CLEW_TRY(const auto writer,
           TraceFileWriter::create(options.file, options.window(), options.most_bytes));
  replay.plan.queries = {replay.recording.meta.summary.clock};  // with it comes where code lies
  WhileWriting progress(*writer);
  CLEW_TRY(const auto traced,
           run_traced_replay(replay, TraceDetail::kCalls, progress, part_of(*writer)));
  progress.clear();
  if (!writer->has_failed() && !check_traced(replay, traced)) return status_of(traced);
  TraceInfo info;
  info.recording = replay.recording.number;
  info.program = replay.plan.program;
  info.clock = traced.run.summary.clock;
  info.threads = traced.run.reports.threads;
  info.maps = traced.run.reports.maps;
  CLEW_TRY(const std::uint64_t size, writer->finish(std::move(info)));
  const double each = writer->instructions() == 0
                          ? 0.0
                          : static_cast<double>(size) / static_cast<double>(writer->instructions());
  const RunFigures figures = writer->figures(traced.blocks);
  print_details(count_text(replay, traced, figures));
  print_details(fmt::format("  {} has {}: {}, {:.2f} for each\n", printable(options.file),
                            counted(writer->instructions(), "instruction"), counted(size, "byte"),
                            each));
  Json json = count_json(replay, traced, figures);
  json["file"] = {{"path", options.file},
                  {"bytes", size},
                  {"raw_bytes", writer->raw_bytes()},
                  {"instructions", writer->instructions()}};
  CLEW_CHECK_OK(write_json(options.json, json));
  return 0;
}

Result<int> picture(const Replay& replay, const TraceOptions& options) {
  Kept kept;
  CLEW_TRY(const int status, trace_part(replay, options.window(), kept));
  if (status != 0) return status;
  CodeMap code(kept.run.reports.maps);
  kept.trace.finish(std::move(kept.blocks), code);
  Symbolizer symbols(kept.run.reports);
  RunNames run_names(symbols);
  TraceNames names(kept.trace, kept.run, symbols, run_names);
  CLEW_TRY(const PerfettoFigures figures, write_perfetto(options.perfetto, kept.trace, kept.run,
                                                         options.window(), code, symbols, names));
  print_details(fmt::format("clew: {} has {}: {}, {} of {}\n", printable(options.perfetto),
                            recording_name(replay.recording), counted(figures.threads, "thread"),
                            counted(figures.calls, "call"),
                            counted(figures.instructions, "instruction")));
  Json json = {{"recording", replay.recording.number},
               {"perfetto", options.perfetto},
               {"threads", figures.threads},
               {"calls", figures.calls},
               {"locks", figures.locks},
               {"instructions", figures.instructions}};
  CLEW_CHECK_OK(write_json(options.json, json));
  return 0;
}

Result<SourceLine> parse_line(const std::string& text) {
  const auto colon = text.rfind(':');
  SourceLine line{text.substr(0, colon), 0};
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, line.line);
    if (read.ec != std::errc() || read.ptr != end) line.line = 0;
  }
  if (line.line == 0 || line.file.empty())
    return fail(ErrorCode::kUsage, fmt::format("'{}' is not a source line", printable(text)),
                "clew trace --at queue.cpp:36");
  return line;
}

// What the accesses are to. A run that is too long to be kept as a whole has names for global
// variables only.
std::vector<ObjectName> names_of(const LineHistory& history, const TracedReplay& traced,
                                 RunTrace& trace, Symbolizer& symbols, RunNames& names) {
  std::vector<ObjectName> result;
  std::optional<TraceNames> whole;
  if (!trace.too_long()) {
    CodeMap code(traced.run.reports.maps);
    trace.finish(traced.blocks, code);
    whole.emplace(trace, traced.run, symbols, names);
  }
  for (const LineAccess& access : history.accesses())
    result.push_back(whole ? whole->name(access.address, access.size, access.step)
                           : names.global(access.address, access.size));
  return result;
}

AccessValue value_of(const LineAccess& access) {
  return {access.kind, access.size, access.has_value, access.value};
}

std::string object_text(const LineAccess& access, const ObjectName& name,
                        const std::string& thread) {
  return name.known() ? object_words(name, thread) : fmt::format("0x{:x}", access.address);
}

// Two runs: the first tells which code ran, so that its lines can be looked up.
Result<int> tell_line(const Replay& replay, const TraceOptions& options) {
  CLEW_TRY(const auto line, parse_line(options.at));
  Replay quiet = replay;
  quiet.plan.output = OutputMode::kCaptureOnly;
  quiet.plan.queries = {replay.recording.meta.summary.clock};  // with it comes where code lies
  RunCounter counter;
  ProgressLine progress;
  CLEW_TRY(const auto first,
           run_traced_replay(quiet, TraceDetail::kAccesses, progress, part_of(counter)));
  if (!check_traced(replay, first)) return status_of(first);
  Symbolizer symbols(first.run.reports);
  const auto instructions = instructions_of(line, first.blocks, symbols);
  if (instructions.empty())
    return fail(ErrorCode::kBadInput,
                fmt::format("{} has no code at {} that ran", recording_name(replay.recording),
                            printable(options.at)),
                "was the program built with -g?");
  LineHistory history(instructions, options.most);
  RunTrace whole(kMostKept);
  Both both(history, whole);
  CLEW_TRY(const auto traced, run_traced_replay(quiet, TraceDetail::kCalls, progress, both));
  progress.clear();
  if (!check_traced(replay, traced)) return status_of(traced);

  const auto& threads = traced.run.reports.threads;
  const auto thread = [&](const LineAccess& access) {
    return access.thread < threads.size() ? threads[access.thread].id : std::string("?");
  };
  RunNames run_names(symbols);
  const auto names = names_of(history, traced, whole, symbols, run_names);
  Json accesses = Json::array();
  std::string text = fmt::format("{} of {} in {}\n", counted(history.total(), "access"),
                                 printable(options.at), recording_name(replay.recording));
  text += fmt::format("{:>12}  {:<8} what\n", "after clock", "thread");
  for (std::size_t i = 0; i < history.accesses().size(); ++i) {
    const LineAccess& access = history.accesses()[i];
    const ObjectName& name = names[i];
    text += fmt::format("{:>12}  {:<8} {} {}{}, {}\n", with_commas(access.clock), thread(access),
                        to_verb(access.kind), object_text(access, name, thread(access)),
                        access_value_text(value_of(access), name), counted(access.size, "byte"));
    accesses.push_back({{"clock", access.clock},
                        {"thread", thread(access)},
                        {"what", to_verb(access.kind)},
                        {"address", access.address},
                        {"variable", short_object_words(name)},
                        {"text", access_value_text(value_of(access), name)},
                        {"size", access.size},
                        {"value", access.has_value ? Json(access.value) : Json()}});
  }
  if (history.total() > history.accesses().size())
    text += fmt::format("  ... and {} more (--most {})\n",
                        with_commas(history.total() - history.accesses().size()), history.total());
  if (options.json != "-") fmt::print("{}", text);
  Json json = json_of(replay, traced);
  json["total"] = history.total();
  json["accesses"] = accesses;
  CLEW_CHECK_OK(write_json(options.json, json));
  return 0;
}

Result<int> trace(const TraceOptions& options) {
  const Interrupts interrupts;  // from the beginning: one that comes before the run is told as well
  CLEW_TRY(auto replay, prepare_replay(options.recording));
  if (!options.at.empty()) return tell_line(replay, options);
  if (options.from > options.to)
    return fail(ErrorCode::kUsage, "--from is behind --to", "clew trace --from 60 --to 80 -o FILE");
  const bool is_part = options.from != 0 || options.to != UINT64_MAX;
  if (is_part && options.file.empty() && options.perfetto.empty())
    return fail(ErrorCode::kUsage, "--from and --to need -o or --perfetto",
                "clew show --trace --from 60 --to 80 shows what ran there");
  if (options.json == "-") replay.plan.output = OutputMode::kCaptureOnly;
  if (!options.perfetto.empty()) return picture(replay, options);
  return options.file.empty() ? count_all(replay, options) : keep(replay, options);
}

}  // namespace

void register_trace(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand(
      "trace", "Run a recording again and look at every instruction, read and write");
  command
      ->add_option("recording", options->recording,
                   "Number or folder of the recording (default: the newest)")
      ->type_name("RECORDING");
  command
      ->add_option("--at", options->at,
                   "Tell what this source line read and wrote each time it ran, with the values")
      ->type_name("FILE:LINE");
  command
      ->add_option("--most", options->most, "Tell at most this many reads and writes of the line")
      ->type_name("N")
      ->check(count())
      ->capture_default_str();
  CLI::Option* file = command
                          ->add_option("-o,--output", options->file,
                                       "Keep the trace in this file, for clew show --trace FILE")
                          ->type_name("FILE");
  command
      ->add_option("--perfetto", options->perfetto,
                   "Write threads, functions and locks to this file, for ui.perfetto.dev")
      ->type_name("FILE")
      ->excludes(file);
  command->add_option("--from", options->from, "With -o or --perfetto: from this clock on")
      ->type_name("CLOCK");
  command->add_option("--to", options->to, "With -o or --perfetto: up to this clock")
      ->type_name("CLOCK");
  command
      ->add_option("--most-bytes", options->most_bytes,
                   "Give up if the file becomes larger (default: 16 GiB)")
      ->type_name("N")
      ->check(count())
      ->needs(file);
  add_json(*command, options->json);
  command->footer(
      "The program's code and that of its libraries runs from main on as a translation of itself\n"
      "that writes down what it does; clew compares the run with the recording and counts.\n\n"
      "Examples:\n"
      "  clew trace\n"
      "  clew trace 7 --json trace.json\n"
      "  clew trace 7 --at queue.cpp:36\n"
      "  clew trace 7 -o run.trace\n"
      "  clew trace 7 --perfetto run.perfetto\n"
      "  clew trace 7 --from 1200 --to 1300 -o part.trace\n\n"
      "Exit status: 0; 123 if the traced run departed from the recording; 124, 125, 126 for "
      "errors.");
  command->callback([options, &exit_status] {
    const auto status = trace(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
