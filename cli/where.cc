// clew where: query mode, what every thread was doing at a clock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/report/exit_status.h"
#include "host/report/run_json.h"
#include "host/report/run_text.h"
#include "host/report/stacks.h"
#include "host/report/words.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/replay.h"

namespace clew::cli {
namespace {

struct WhereOptions {
  std::vector<std::string> words;  // [RECORDING] CLOCK...
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

Result<std::vector<std::uint64_t>> parse_clocks(const WhereOptions& options, std::uint64_t last) {
  std::vector<std::uint64_t> clocks;
  for (std::size_t i = options.words.size() > 1 ? 1 : 0; i < options.words.size(); ++i) {
    const auto clock = parse_clock(options.words[i]);
    if (!clock) return std::unexpected(clock.error());
    if (*clock > last)
      return fail(ErrorCode::kUsage, fmt::format("clock {} is past the end of the run, {}", *clock,
                                                 with_commas(last)));
    clocks.push_back(*clock);
  }
  return clocks;
}

Result<int> where(const WhereOptions& options) {
  auto replay = prepare_replay(options.words.size() > 1 ? options.words.front() : "");
  if (!replay) return std::unexpected(replay.error());
  const auto clocks = parse_clocks(options, replay->recording.meta.summary.clock);
  if (!clocks) return std::unexpected(clocks.error());
  replay->plan.output = OutputMode::kCaptureOnly;
  replay->plan.queries = *clocks;
  std::ranges::sort(replay->plan.queries);
  const auto repeated = std::ranges::unique(replay->plan.queries);
  replay->plan.queries.erase(repeated.begin(), repeated.end());

  ProgressLine progress;
  auto run = run_replay(*replay, progress);
  progress.clear();
  if (!run) return std::unexpected(run.error());
  Symbolizer symbols(run->reports);
  locate_failure(*run, symbols);
  const auto lines = differences(replay->recording.meta, *run);
  if (!lines.empty()) print_departure(*replay, *run, lines, symbols);

  Json json = run_json(replay->recording.number, *run, symbols);
  json["at"] = Json::array();
  for (const Moment& moment : moments(*run, *clocks, symbols)) {
    if (options.json != "-") print_result(moment_text(*run, moment));
    json["at"].push_back(moment_json(*run, moment));
  }
  if (auto written = write_json(options.json, json); !written)
    return std::unexpected(written.error());
  if (run->interrupted_by != 0) return 128 + run->interrupted_by;
  return lines.empty() ? 0 : kExitDeparted;
}

}  // namespace

void register_where(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<WhereOptions>();
  CLI::App* command =
      app.add_subcommand("where", "Show where every thread stands at given clocks of a recording");
  command
      ->add_option("words", options->words,
                   "Clocks of a recording; with one number it is a clock of the newest recording")
      ->type_name("[RECORDING] CLOCK...")
      ->required();
  command->add_option("--json", options->json, "Write the result as JSON; - is standard output")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  clew where 1234            clock 1234 of the newest recording\n"
      "  clew where 7 1234 1240     two clocks of recording 7\n\n"
      "Exit status: 0; 123 if the replay departed from the recording; 124, 125, 126 for errors.");
  command->callback([options, &exit_status] {
    const auto status = where(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
