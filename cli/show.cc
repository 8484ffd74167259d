// clew show: a recording as a person reads it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/replay_report.h"
#include "cli/show_trace.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "host/observe/event_names.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/slices.h"
#include "host/symbolize/locate.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"
#include "host/target/replay.h"

namespace clew::cli {
namespace {

// Up to here, stopping at every point takes a second or two; beyond, some lines stay unknown.
constexpr std::uint64_t kMostPoints = 20'000'000;

struct ShowOptions {
  std::string recording;
  bool all = false;
  bool trace = false;
  TracePart part;
  std::string json;
};

std::string ending(const Replay& replay, const RunResult& run, Symbolizer& symbols) {
  if (was_interrupted(replay.recording.meta)) return "stopped\n";
  const std::string judged = judged_line(replay.recording);
  return fmt::format("{}{}\n{}", judged.empty() ? "" : judged + "\n", headline(run.summary),
                     failure_text(run, symbols));
}

Result<int> show(const ShowOptions& options) {
  CLEW_TRY(auto replay, prepare_replay(options.recording));
  const Replay plain = replay;
  replay.plan.output = OutputMode::kCaptureOnly;
  replay.plan.flags |= abi::kFlagSlices;
  if (replay.recording.meta.summary.clock <= kMostPoints) replay.plan.flags |= abi::kFlagEveryPoint;

  ProgressLine progress;
  auto run = run_replay(replay, progress);
  progress.clear();
  CLEW_CHECK_OK(run);
  Symbolizer symbols(run->reports);
  locate_failure(*run, symbols);
  const auto lines = differences(replay.recording.meta, *run);
  if (lines.empty()) {
    name_waited(plain, *run, symbols);
  } else {
    print_departure(replay, *run, lines, symbols);
  }

  if (options.json != "-") {
    print_result(slices_text(*run, options.all ? Length::kAll : Length::kShortened, symbols,
                             output_columns()));
    if (lines.empty()) print_result(ending(replay, *run, symbols));
  }
  if (!options.json.empty()) {
    Json json = run_json(replay.recording.number, *run, symbols);
    json["slices"] = slices_json(*run, symbols);
    CLEW_CHECK_OK(write_json(options.json, json));
  }
  if (run->interrupted_by != 0) return 128 + run->interrupted_by;
  return lines.empty() ? 0 : kExitDeparted;
}

}  // namespace

void register_show(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      app.add_subcommand("show", "Show a recording slice by slice: who ran, where, why it stopped");
  command
      ->add_option("recording", options->recording,
                   "Number or folder of the recording (default: the newest); with --trace a trace "
                   "file as well")
      ->type_name("RECORDING");
  CLI::Option* trace = command->add_flag("--trace", options->trace,
                                         "Show the lines that ran, with what they read and wrote");
  command
      ->add_option("--from", options->part.from,
                   "With --trace: from this clock on (default: near the end)")
      ->type_name("CLOCK")
      ->needs(trace);
  command->add_option("--to", options->part.to, "With --trace: up to this clock (default: the end)")
      ->type_name("CLOCK")
      ->needs(trace);
  command->add_option("--most", options->part.most, "With --trace: at most this many lines")
      ->type_name("N")
      ->check(count())
      ->capture_default_str()
      ->needs(trace);
  command->add_flag("--all", options->all, "Show every slice, however many there are");
  add_full(*command);
  add_json(*command, options->json);
  command->footer(
      "Lines are cut to the width of the terminal, or to COLUMNS if that is set; line numbers "
      "stay.\n"
      "Into a file or a pipe they are whole.\n\n"
      "Examples:\n"
      "  clew show 7\n"
      "  clew show --trace 7 --from 1200 --to 1210\n"
      "  clew show --trace run.trace --from 1200\n\n"
      "Exit status: 0; 123 if the replay departed from the recording; 124, 125, 126 for errors.");
  command->callback([options, &exit_status] {
    const auto status = options->trace
                            ? show_trace(options->recording, options->part, options->json)
                            : show(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
