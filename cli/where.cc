// clew where: query mode, what every thread was doing at a clock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/observe/event_names.h"
#include "host/observe/values_at.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/stacks.h"
#include "host/report/values_text.h"
#include "host/report/words.h"
#include "host/symbolize/locate.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"
#include "host/target/replay.h"

namespace clew::cli {
namespace {

struct WhereOptions {
  std::vector<std::string> words;  // [RECORDING] CLOCK...
  bool values = false;
  std::string json;
};

Result<std::uint64_t> parse_clock(const std::string& word) {
  std::string digits = word;
  std::erase(digits, ',');  // as clew prints them
  std::uint64_t clock = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), clock);
  if (error != std::errc() || end != digits.data() + digits.size() || clock == 0)
    return fail(ErrorCode::kUsage, fmt::format("'{}' is not a clock", printable(word)),
                "clocks are numbers from 1; clew show lists them");
  return clock;
}

Result<std::vector<std::uint64_t>> parse_clocks(std::span<const std::string> words,
                                                std::uint64_t last) {
  std::vector<std::uint64_t> clocks;
  for (const std::string& word : words) {
    CLEW_TRY(const auto clock, parse_clock(word));
    if (clock > last)
      return fail(ErrorCode::kUsage,
                  fmt::format("clock {} is past the end of the run, {}", clock, with_commas(last)),
                  "clew show lists what happened when");
    clocks.push_back(clock);
  }
  return clocks;
}

// A replay is stopped at each of the clocks.
Result<int> tell_values(const Replay& replay, const std::vector<std::uint64_t>& clocks,
                        const WhereOptions& options) {
  Json json = {{"recording", replay.recording.number}, {"values", Json::array()}};
  for (const std::uint64_t clock : clocks) {
    CLEW_TRY(const auto values, values_at(replay, clock));
    if (options.json != "-") print_result(values_text(values));
    json["values"].push_back(values_json(values));
  }
  CLEW_CHECK_OK(write_json(options.json, json));
  return 0;
}

Result<int> where(const WhereOptions& options) {
  // Of several numbers the first is a recording, if there is one of that number.
  std::span<const std::string> words = options.words;
  Result<Replay> replay = prepare_replay(words.size() > 1 ? words.front() : "");
  if (words.size() > 1 && !replay && replay.error().code == ErrorCode::kUsage &&
      parse_clock(words.front())) {
    replay = prepare_replay("");
  } else if (words.size() > 1) {
    words = words.subspan(1);
  }
  CLEW_CHECK_OK(replay);
  CLEW_TRY(const auto clocks, parse_clocks(words, replay->recording.meta.summary.clock));
  if (options.values) return tell_values(*replay, clocks, options);
  const Replay plain = *replay;
  replay->plan.output = OutputMode::kCaptureOnly;
  replay->plan.queries = clocks;
  std::ranges::sort(replay->plan.queries);
  const auto repeated = std::ranges::unique(replay->plan.queries);
  replay->plan.queries.erase(repeated.begin(), repeated.end());

  ProgressLine progress;
  auto run = run_replay(*replay, progress);
  progress.clear();
  CLEW_CHECK_OK(run);
  Symbolizer symbols(run->reports);
  locate_failure(*run, symbols);
  const auto lines = differences(replay->recording.meta, *run);
  if (lines.empty()) {
    name_waited(plain, *run, symbols);
  } else {
    print_departure(*replay, *run, lines, symbols);
  }

  Json json = run_json(replay->recording.number, *run, symbols);
  json["at"] = Json::array();
  for (const Moment& moment : moments(*run, clocks, symbols)) {
    if (options.json != "-") print_result(moment_text(*run, moment, symbols));
    json["at"].push_back(moment_json(*run, moment));
  }
  CLEW_CHECK_OK(write_json(options.json, json));
  if (run->interrupted_by != 0) return 128 + run->interrupted_by;
  return lines.empty() ? 0 : kExitDeparted;
}

}  // namespace

void register_where(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<WhereOptions>();
  CLI::App* command =
      app.add_subcommand("where", "Show where every thread stands at given clocks of a recording");
  command
      ->add_option(
          "clocks", options->words,
          "Clocks of a recording (default: of the newest); of several numbers the first is the "
          "recording, if there is one of that number")
      ->type_name("[RECORDING] CLOCK...")
      ->required();
  command->add_flag("--values", options->values,
                    "Show the lines where threads stand, with the values of the variables on them");
  add_full(*command);
  add_json(*command, options->json);
  command->footer(
      "Examples:\n"
      "  clew where 1234            clock 1234 of the newest recording\n"
      "  clew where 7 1234 1240     two clocks of recording 7\n"
      "  clew where --values 1234   what the variables hold there\n\n"
      "Exit status: 0; 123 if the replay departed from the recording; 124, 125, 126 for errors.");
  command->callback([options, &exit_status] {
    const auto status = where(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
