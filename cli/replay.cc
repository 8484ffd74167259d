// clew replay: a recording run again, compared with what was recorded.
#include "host/target/replay.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/gdb.h"
#include "cli/recorded_run.h"
#include "cli/replay_report.h"
#include "cli/ui.h"
#include "cli/validators.h"
#include "cli/watch_options.h"
#include "host/calls/told_functions.h"
#include "host/names/findings.h"
#include "host/observe/event_names.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/words.h"
#include "host/symbolize/locate.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"

namespace clew::cli {
namespace {

struct ReplayOptions {
  std::string recording;
  std::uint64_t times = 1;
  bool gdb = false;
  bool live = false;
  std::vector<std::string> gdb_arguments;
  WatchOptions watch;
  std::string json;
};

Result<int> debug(const ReplayOptions& options) {
  CLEW_TRY(auto replay, prepare_replay(options.recording));
  CLEW_CHECK_OK(replay_in_gdb(replay, options.gdb_arguments));
  return 0;
}

// Schedule replay (Choi and Zeller 2002, section 3): the switches of the recording with current
// input.
Result<int> replay_live(const ReplayOptions& options) {
  CLEW_TRY(auto replay, prepare_replay(options.recording));
  CLEW_CHECK_OK(check_runs_live(replay.recording));
  LaunchPlan plan = live_plan(replay);
  CLEW_CHECK_OK(apply(options.watch, plan));
  return recorded_run(std::move(plan), options.json);
}

std::string same_text(const Replay& replay, const RunResult& run, std::uint64_t times) {
  const std::string name = recording_name(replay.recording);
  const std::string points = counted(run.summary.clock, "point");
  if (was_interrupted(replay.recording.meta))
    return fmt::format("replayed {} up to the clock where it was stopped ({})", name, points);
  const char* same =
      replay.recording.meta.parent == 0 ? "outcome, output and hash" : "outcome and hash";
  if (times > 1)
    return fmt::format("replayed {} {} times: same {} each time ({})", name, with_commas(times),
                       same, points);
  return fmt::format("replayed {}: same {} ({})", name, same, points);
}

// Interrupted replays count for nothing; the first that differs is the one described.
struct Tally {
  std::uint64_t replays = 0;
  std::uint64_t diverged = 0;
  std::optional<RunResult> last;
  std::optional<RunResult> odd;
  std::vector<std::string> lines;
};

Result<Tally> run_times(Replay replay, std::uint64_t times) {
  Tally tally;
  ToldFunctions functions = ToldFunctions::prepare(replay.plan);
  ProgressLine progress;
  for (std::uint64_t i = 1; i <= times; ++i) {
    if (times > 1) progress.set_label(fmt::format("replay {} of {}", i, times));
    functions.begin_run();
    CLEW_TRY(auto run, run_replay(replay, progress));
    if (run.interrupted_by != 0) {
      tally.last = std::move(run);
      break;
    }
    ++tally.replays;
    if (times > 1) progress.overall(tally.replays, times);
    const auto lines = differences(replay.recording.meta, run);
    if (!lines.empty() && ++tally.diverged == 1) {
      tally.odd = run;
      tally.lines = lines;
    }
    tally.last = std::move(run);
  }
  return tally;
}

int print_tally(const Replay& replay, const Tally& tally, Symbolizer& symbols) {
  const RunResult& run = tally.odd ? *tally.odd : *tally.last;
  if (tally.odd) {
    print_departure(replay, run, tally.lines, symbols);
    if (tally.replays > 1)
      print_details(fmt::format("  {} of {} departed\n", with_commas(tally.diverged),
                                counted(tally.replays, "replay")));
    return run.interrupted_by != 0 ? 128 + run.interrupted_by : kExitDeparted;
  }
  if (run.interrupted_by != 0) {
    print_headline(Outcome::kUnresolved,
                   fmt::format("interrupted after {}", counted(tally.replays, "replay")));
    return 128 + run.interrupted_by;
  }
  if (run.summary.failure && !was_interrupted(replay.recording.meta)) {
    print_headline(run.summary.outcome, headline(run.summary));
    print_details(failure_text(run, symbols));
  }
  if (const std::string line = judged_line(replay.recording); !line.empty())
    print_headline(Outcome::kFail, line);
  print_details(fmt::format("clew: {}\n", same_text(replay, run, tally.replays)));
  return was_interrupted(replay.recording.meta) ? 0 : exit_status_of(run);
}

Result<int> replay(const ReplayOptions& options) {
  CLEW_TRY(auto replay, prepare_replay(options.recording));
  CLEW_CHECK_OK(apply(options.watch, replay.plan));
  print_other_machine(replay.recording);
  if (options.json == "-" || options.times > 1) replay.plan.output = OutputMode::kCaptureOnly;
  CLEW_TRY(auto tally, run_times(replay, options.times));
  RunResult& run = tally.odd ? *tally.odd : *tally.last;
  Symbolizer symbols(run.reports);
  locate_failure(run, symbols);
  locate_findings(run, symbols);
  if (!tally.odd && run.seconds < kMostSecondsToAskAgain) {
    ProgressLine progress;
    locate_holds(options.recording, run, progress);
    find_stacks_of_findings(options.recording, run, progress);
    name_waited(replay, run, symbols);
    name_findings(replay, run, symbols);
    progress.clear();
  }
  tell_if_output_lost(run);
  const int status = print_tally(replay, tally, symbols);
  print_findings(replay.plan, run, symbols);

  Json json = run_json(replay.recording.number, run, symbols);
  json["replays"] = tally.replays;
  json["diverged"] = tally.diverged;
  json["differences"] = tally.lines;
  CLEW_CHECK_OK(write_json(options.json, json));
  return status;
}

}  // namespace

void register_replay(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Run a recording again, exactly");
  command
      ->add_option("recording", options->recording,
                   "Number or folder of the recording (default: the newest)")
      ->type_name("RECORDING");
  auto* times =
      command
          ->add_option("--times", options->times,
                       "Replay this many times; the program's output is then compared, not shown")
          ->type_name("K")
          ->check(count())
          ->capture_default_str();
  auto* gdb = command->add_flag(
      "--gdb", options->gdb,
      "Replay under gdb, stopped at main; its command 'clew help' says what it can do, also back "
      "in time");
  command->add_option("--gdb-arg", options->gdb_arguments, "One more argument for gdb")
      ->group("")
      ->needs(gdb)
      ->expected(1)
      ->take_all();
  command
      ->add_flag("--live", options->live,
                 "Follow the recording's schedule with current input (files, network, standard "
                 "input), and record that")
      ->excludes(gdb)
      ->excludes(times);
  add_watch(*command, options->watch);
  add_full(*command);
  add_json(*command, options->json)->excludes(gdb);
  command->footer(
      "Examples:\n"
      "  clew replay\n"
      "  clew replay 7 --times 100\n"
      "  clew replay 7 --gdb\n"
      "  clew replay 7 --watch races\n"
      "  clew replay 7 --live <other_input\n\n"
      "Exit status: as for clew run, the program's own; 123 if the replay departed from the\n"
      "recording; 0 after --gdb.");
  command->callback([options, &exit_status] {
    const auto status = options->gdb    ? debug(*options)
                        : options->live ? replay_live(*options)
                                        : replay(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
